//! Tests the repetition of disturbed trials, including after the run is resumed.

use samples::{Arm, Disturber};

use super::*;

pub(super) fn disturb(trial: &mut Trial) {
    let by = vec![Disturber { process: Some("cc1".into()), cpus: 0.8 }];
    trial.warnings.push(ValidityWarning::Disturbed { share: 0.4, processes: by });
}

fn made(plan: &Plan, disturbed: &[u32]) -> Vec<Trial> {
    let mut design = Design::new(plan, []);
    let mut trials = Vec::new();
    while let Some(planned) = design.next_trial() {
        let mut trial = SATURATING.make(plan, planned, 3, 0);
        if disturbed.contains(&planned.index) {
            disturb(&mut trial);
        }
        design.saw(&trial);
        trials.push(trial);
    }
    trials
}

#[test]
fn repeats_disturbed_trial_at_most_three_times() {
    let plan = plan(3, &PlanOptions { trials: Some(2), ..PlanOptions::default() });
    let trials = made(&plan, &[4, 9]);
    let mut design = Design::new(&plan, &trials);
    assert!(design.next_trial().is_none());
    let mut attempts = Vec::new();
    while let Some((planned, before)) = design.to_remake() {
        attempts.push((planned.index, before.len()));
        let mut trial = SATURATING.make(&plan, planned, 3, 0);
        trial.discarded = before;
        if planned.index == 9 {
            disturb(&mut trial);
        }
        design.saw(&trial);
    }
    assert_eq!(attempts, [(4, 1), (9, 1), (9, 2)]);
}

#[test]
fn does_not_repeat_skipped_or_excluded_trials() {
    let plan = plan(3, &PlanOptions { trials: Some(2), ..PlanOptions::default() });
    let trials = made(&plan, &[4, 9]);
    let mut design = Design::new(&plan, &trials);
    let (planned, _) = design.to_remake().expect("a disturbed trial");
    assert_eq!(planned.index, 4);
    design.skip(plan.results[planned.result].id.as_str());
    let (planned, _) = design.to_remake().expect("the other disturbed trial");
    assert_eq!(planned.index, 9);
    design.leave_out(planned);
    assert!(design.to_remake().is_none());
}

#[test]
fn next_attempt_replaces_disturbed_trial() {
    let plan = plan(3, &precisely(Objective::Max));
    let mut trials = made(&plan, &[]);
    let best = recommended(&trials, Objective::Max);
    let place = trials.iter().position(|trial| trial.result == best).expect("it was measured");
    let values = |trials: &[Trial]| {
        let design = Design::new(&plan, trials);
        let result =
            plan.results.iter().position(|result| result.id.as_str() == best).expect("it is planned");
        let mut values = design.seen.blocks(result, Arm::Measure, u32::MAX).into_values().collect::<Vec<_>>();
        values.sort_by(f64::total_cmp);
        values
    };
    let whole = values(&trials);
    let again = trials[place].clone();
    disturb(&mut trials[place]);
    trials[place].measurement = Measurement::Stream(StreamData { flows: Vec::new() });
    assert_eq!(values(&trials).len(), whole.len() - 1);
    trials.push(again);
    assert_eq!(values(&trials), whole);
}
