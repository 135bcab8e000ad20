//! Compares imported runs: by trials if there are enough, and otherwise with a tolerance.

use super::*;

fn trials(count: u32, seed: u64, rate: f64) -> RunRecord {
    let mut draw = Draw(0x1a90_0000 + seed);
    let mut run = Fixture::new(count);
    run.path("a-to-b", &[]).imported("a-to-b", "tcp", &[], about(rate));
    for trial in &mut run.record.trials {
        trial.measurement = about(rate * draw.about_one(0.02));
    }
    run.record
}

fn forty(count: u32, kept: f64) -> Vec<(ResultComparison, GateOutcome)> {
    let pair = |seed: u64| {
        let (a, b) = (trials(count, 2 * seed, 10e9), trials(count, 2 * seed + 1, 10e9 * kept));
        let comparison = compare(&a, &b);
        let outcome = gate(&comparison, 0.05).outcome;
        (comparison.results.into_iter().next().expect("one result"), outcome)
    };
    (0..40).map(pair).collect()
}

fn of(pairs: &[(ResultComparison, GateOutcome)], verdict: Verdict) -> usize {
    pairs.iter().filter(|(result, _)| result.verdict == verdict).count()
}

#[test]
fn loss_of_a_twentieth_is_never_the_same_with_twenty_trials() {
    let pairs = forty(20, 0.95);
    assert!(of(&pairs, Verdict::Worse) >= 36 && of(&pairs, Verdict::Same) == 0, "{pairs:#?}");
    let floors: Vec<f64> = pairs.iter().filter_map(|(result, _)| result.floor).collect();
    assert!(floors.len() == 40 && floors.iter().all(|floor| *floor == 0.02), "{floors:?}");
}

#[test]
fn more_trials_find_losses_of_a_tenth_more_often() {
    let found = [1, 3, 5, 10, 20].map(|count| of(&forty(count, 0.9), Verdict::Worse));
    assert!(found.is_sorted() && found[1] == 0 && found[2] >= 30 && found[3] == 40, "{found:?}");
}

#[test]
fn finds_large_differences_with_few_trials() {
    for count in 1..5 {
        let found = of(&forty(count, 0.6), Verdict::Worse);
        assert!(found >= if count == 2 { 34 } else { 40 }, "{found} of {count} trials each");
    }
}

#[test]
fn equal_imported_runs_rarely_differ_and_pass_the_gate() {
    for (count, same, passed) in [(1, 20, 0), (5, 36, 0), (10, 36, 20), (20, 36, 36)] {
        let pairs = forty(count, 1.0);
        let alarms = of(&pairs, Verdict::Worse) + of(&pairs, Verdict::Better);
        let passes = pairs.iter().filter(|(_, outcome)| *outcome == GateOutcome::Passed).count();
        assert!(
            alarms <= 2 && of(&pairs, Verdict::Same) >= same && passes >= passed,
            "{count}: {alarms} {passes}"
        );
    }
}

#[test]
fn difference_beyond_the_noise_between_runs_is_never_the_same() {
    for (count, kept) in [(5, 0.94), (10, 0.96), (20, 0.97), (20, 0.98), (20, 1.04)] {
        for (result, _) in forty(count, kept) {
            let (floor, change) = (result.floor.expect("five trials"), result.comparison.expect("a ratio"));
            let interval = change.ratio_interval.expect("five trials");
            let half = (interval.high / interval.low).ln() / 2.0;
            let apart = change.ratio.ln().abs() > half.hypot(floor.ln_1p());
            assert!(!apart || result.verdict != Verdict::Same, "{result:#?}");
            assert_eq!(
                result.verdict == Verdict::Unknown,
                result.reason.is_some() && result.verdict != Verdict::Same
            );
        }
    }
}

#[test]
fn unknown_verdict_names_the_noise_in_one_sentence() {
    let whys = [(1, 0.85), (4, 0.85), (5, 0.95)].map(|(count, kept)| {
        let unknown = forty(count, kept).into_iter().find(|(result, _)| result.verdict == Verdict::Unknown);
        unknown.and_then(|(result, _)| result.reason).unwrap_or_else(|| panic!("{count} {kept}"))
    });
    for (reason, part) in whys.iter().zip(["tolerance of 25", "tolerance of 25", "%"]) {
        assert!(reason.contains(part) && reason.matches(". ").count() == 0, "{reason}");
    }
}

#[test]
fn loss_below_the_threshold_passes() {
    let pairs = forty(20, 0.95);
    let loosely = |seed: u64| {
        let comparison = compare(&trials(20, 2 * seed, 10e9), &trials(20, 2 * seed + 1, 9.5e9));
        gate(&comparison, 0.15).outcome
    };
    assert!(of(&pairs, Verdict::Worse) > 0 && (0..5).all(|seed| loosely(seed) == GateOutcome::Passed));
}
