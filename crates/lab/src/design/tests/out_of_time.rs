//! Tests time budgets that run out before every result has a trial, e.g. on a busy machine.

use samples::Arm;

use super::*;

fn run_slowly(slower: i64) -> (Vec<String>, Vec<String>) {
    let full = plan(3, &PlanOptions { trials: Some(1), ..PlanOptions::default() });
    let options =
        PlanOptions { trials: Some(2), budget: Some(full.duration_estimate()), ..PlanOptions::default() };
    let plan = plan(3, &options);
    let mut design = Design::new(&plan, []);
    let (mut now, mut made) = (0, BTreeSet::new());
    while let Some(planned) = design.next_trial() {
        let trial = SATURATING.make(&plan, planned, 3, now);
        now += slower * took(&plan, planned.result);
        design.saw(&trial);
        if planned.arm == Arm::Measure {
            made.insert(trial.result);
        }
    }
    (made.into_iter().collect(), design.out_of_time().map(str::to_owned).collect())
}

#[test]
fn results_without_a_trial_are_named_when_the_budget_is_used_up() {
    for slower in [2, 3] {
        let (made, missing) = run_slowly(slower);
        assert!(!made.is_empty() && !missing.is_empty(), "{made:?}");
        assert!(missing.iter().all(|result| !made.contains(result)), "{missing:?}");
        assert_eq!(made.len() + missing.len(), STREAMS.len() * MESSAGES.len());
    }
}

#[test]
fn no_result_is_named_when_every_result_has_a_trial() {
    let plan = plan(3, &PlanOptions { trials: Some(2), ..PlanOptions::default() });
    let mut design = Design::new(&plan, []);
    while let Some(planned) = design.next_trial() {
        design.saw(&SATURATING.make(&plan, planned, 3, i64::from(planned.index) * 1000));
    }
    assert_eq!(design.out_of_time().next(), None);
}
