//! Tests the answer of a comparison and its verdicts.

use super::*;

#[test]
fn verdict_names_the_largest_change_of_each_direction() {
    let mut b = run(8, 2, QUIET, 0.8);
    b.each("plain/ping", |trial| trial.measurement = round_trip(30e3 + f64::from(trial.index)));
    b.each("tunnel/ping", |trial| trial.measurement = round_trip(44e3 + f64::from(trial.index)));
    let comparison = compare(&run(8, 1, QUIET, 1.0).record, &b.record);
    let verdict = &comparison.verdict;
    let named = |at: usize| (verdict.changes[at].label.as_str(), verdict.changes[at].verdict);
    assert_eq!(verdict.conclusion, ComparisonConclusion::Mixed, "{verdict:#?}");
    assert_eq!([named(0), named(1)], [("tunnel, bulk", Verdict::Worse), ("plain, ping", Verdict::Better)]);
    assert_eq!((verdict.results.worse, verdict.results.better), (1, 2));
    let gate = gate(&comparison, 0.3);
    assert_eq!((gate.regressions.len(), gate.tolerated), (0, vec!["tunnel/bulk".to_owned()]));
}

#[test]
fn three_trials_that_lost_five_percent_are_not_the_same() {
    let noise = Noise { trial: 0.01, block: 0.0, run: 0.005 };
    let same = |pair: &u64| {
        let (a, b) = (run(3, 2 * pair, noise, 1.0), run(3, 2 * pair + 1, noise, 0.95));
        let comparison = compare(&a.record, &b.record);
        result(&comparison, "tunnel/bulk").verdict == Verdict::Same
    };
    let wrong = (0..60).filter(same).count();
    assert!(wrong <= 1, "{wrong} of 60");
}
