//! Tests which results have probed trials, and their order.

use std::collections::BTreeSet;

use samples::{Arm, ProbeKind};
use scenario::{Plan, PlanOptions, PlannedTrial, Scenario, builtin};
use workload::WorkloadSettings;

fn quick(table: &str) -> Scenario {
    let text = builtin::find("quick").expect("built in").text;
    let (text, _) = text.split_once("[schedule]").expect("the scenario has a schedule");
    let text = format!("{text}{table}\n[schedule]\ntrials = 6\n");
    Scenario::parse("quick", &text).unwrap_or_else(|diagnosis| panic!("{diagnosis}"))
}

fn plan(table: &str, options: &PlanOptions) -> Plan {
    Plan::expand(&quick(table), 1, options)
}

fn with(probes: &[ProbeKind]) -> PlanOptions {
    PlanOptions { probes: Some(probes.to_vec()), ..PlanOptions::default() }
}

fn probed(plan: &Plan) -> Vec<&PlannedTrial> {
    plan.trials.iter().filter(|trial| trial.arm == Arm::Probed).collect()
}

/// The order of a run from a version without probes, which must still be resumable.
const ORDER_OF_QUICK: [(usize, Arm); 10] = [
    (3, Arm::Measure),
    (1, Arm::Again),
    (0, Arm::Measure),
    (1, Arm::Measure),
    (5, Arm::Measure),
    (9, Arm::Measure),
    (8, Arm::Measure),
    (0, Arm::Again),
    (6, Arm::Measure),
    (7, Arm::Measure),
];

#[test]
fn plan_without_probes_is_unchanged() {
    let plan = plan("", &PlanOptions::default());
    let order: Vec<(usize, Arm)> =
        plan.trials.iter().map(|trial| (trial.result, trial.arm)).take(10).collect();
    assert_eq!(order, ORDER_OF_QUICK);
    assert_eq!((plan.trials.len(), plan.probes.len()), (6 * 12, 0));
    assert_eq!(plan, self::plan("[probes]", &with(&[])), "an empty list removes the scenario's probes");
}

#[test]
fn probes_each_result_in_first_blocks_in_shuffled_order() {
    let plan = plan("[probes]\ntrials = 2", &PlanOptions::default());
    assert_eq!(plan.probes, ProbeKind::ALL);
    let probed = probed(&plan);
    assert_eq!(probed.len(), 2 * plan.results.len(), "including baselines");
    for block in 0..2 {
        let results: BTreeSet<usize> =
            probed.iter().filter(|trial| trial.block == block).map(|trial| trial.result).collect();
        assert_eq!(results.len(), plan.results.len(), "block {block}");
    }
    let ends: Vec<bool> = plan.trials.iter().take(22).map(|trial| trial.arm == Arm::Probed).collect();
    assert!(
        ends[..12].contains(&true) && ends[12..].contains(&false),
        "probed trials are shuffled with the others: \
                                                                        {ends:?}"
    );
    assert!(plan.trials.iter().zip(0..).all(|(trial, index)| trial.index == index));
}

#[test]
fn probes_up_to_seven_blocks_by_default() {
    for (trials, blocks) in [(1, 1), (6, 6), (7, 7), (12, 7)] {
        let plan = plan(
            "[probes]\nkinds = [\"cpu\"]",
            &PlanOptions { trials: Some(trials), ..PlanOptions::default() },
        );
        let found: BTreeSet<u32> = probed(&plan).iter().map(|trial| trial.block).collect();
        assert_eq!(found, (0..blocks).collect(), "{trials} blocks");
    }
}

#[test]
fn probes_only_supported_workloads() {
    let plan = plan("", &with(&[ProbeKind::PacketWay]));
    let is_ping =
        |trial: &&PlannedTrial| matches!(plan.results[trial.result].load, WorkloadSettings::PingPong(_));
    assert!(!probed(&plan).is_empty() && probed(&plan).iter().all(is_ping));
}

#[test]
fn estimate_includes_probed_trials() {
    let seconds = |options: &PlanOptions| plan("", options).duration_estimate().seconds();
    let (without, with) = (seconds(&PlanOptions::default()), seconds(&with(&ProbeKind::ALL)));
    assert!((with / without - 22.0 / 12.0).abs() < 0.05, "{with} s, not {without} s");
}

#[test]
fn limited_plan_keeps_order() {
    let full = plan("", &with(&ProbeKind::ALL));
    let trials_of = |plan: &Plan, arm: Arm| -> Vec<(u32, usize)> {
        plan.trials.iter().filter(|trial| trial.arm == arm).map(|trial| (trial.block, trial.result)).collect()
    };
    let none = full.limited_to(&[]);
    assert_eq!((probed(&none).len(), none.trials.len()), (0, 72));
    let way = full.limited_to(&[ProbeKind::PacketWay]);
    assert_eq!(probed(&way).len() * 2, probed(&full).len(), "half of the results are ping-pongs");
    for limited in [&none, &way] {
        assert_eq!(trials_of(limited, Arm::Measure), trials_of(&full, Arm::Measure));
        assert!(limited.trials.iter().zip(0..).all(|(trial, index)| trial.index == index));
    }
    assert_eq!(full.limited_to(&ProbeKind::ALL), full);
}
