//! Tests when probed trials run, and that they do not affect decisions.

use samples::{Arm, ProbeKind};

use super::*;

fn watched(options: PlanOptions) -> PlanOptions {
    PlanOptions { probes: Some(ProbeKind::ALL.to_vec()), ..options }
}

#[test]
fn probes_only_measured_results_and_ignores_probed_results() {
    let plan = plan(5, &watched(precisely(Objective::Efficient)));
    let (trials, ends) = run(&PEAKED, &plan, 5, Vec::new());
    let made = |arm: samples::Arm| -> BTreeSet<(u32, &str)> {
        let of_arm = trials.iter().filter(move |trial| trial.arm == arm);
        of_arm.map(|trial| (trial.block, trial.result.as_str())).collect()
    };
    let (probed, measured) = (made(samples::Arm::Probed), made(samples::Arm::Measure));
    assert!(probed.len() >= 2 * plan.results.len(), "screening probes all results");
    assert!(probed.len() < 7 * plan.results.len(), "later blocks probe only measured results");
    assert!(probed.is_subset(&measured));
    let worthless = |trial: &mut Trial| {
        if trial.arm == samples::Arm::Probed {
            trial.measurement = Measurement::Stream(StreamData { flows: Vec::new() });
        }
    };
    let (same, same_ends) = run_changed(&plan, 5, worthless);
    assert_eq!(same_ends, ends);
    assert_eq!(same.len(), trials.len());
}

#[test]
fn makes_all_trials_except_those_left_out() {
    let plan = plan(5, &watched(PlanOptions { trials: Some(3), ..PlanOptions::default() }));
    let mut design = Design::new(&plan, []);
    let mut made = Vec::new();
    while let Some(planned) = design.next_trial() {
        if planned.arm == Arm::Probed {
            design.leave_out(planned);
        } else {
            made.push(planned.index);
            design.saw(&SATURATING.make(&plan, planned, 5, i64::from(planned.index) * 1000));
        }
    }
    let others = plan.trials.iter().filter(|trial| trial.arm != Arm::Probed);
    assert_eq!(made, others.map(|trial| trial.index).collect::<Vec<_>>());
    assert_eq!(design.trials_left(), 0);
}
