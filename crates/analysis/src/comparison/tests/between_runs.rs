//! Tests which other runs of the scenario determine the noise, and how they affect the verdict and the gate.

use samples::{RemedyTrials, RunId, UnixMillis};

use super::*;

fn nth(number: i64, noise: Noise, share: f64) -> RunRecord {
    nth_of(8, number, noise, share)
}

fn nth_of(blocks: u32, number: i64, noise: Noise, share: f64) -> RunRecord {
    let mut record = run(blocks, 0x4157_0000 + number.unsigned_abs(), noise, share).record;
    record.header.id = RunId(format!("small-{number:02}"));
    record.header.started = UnixMillis(1_000_000 * number);
    record.header.scenario.digest = "ba5e".into();
    record
}

fn history(runs: std::ops::Range<i64>, noise: Noise) -> Vec<RunRecord> {
    runs.map(|number| nth(number, noise, 1.0)).collect()
}

const LIMITED: &str = "tunnel/bulk";
const UNSTEADY: Noise = Noise { trial: 0.003, block: 0.002, run: 0.05 };

#[test]
fn finds_loss_of_five_percent_between_steady_runs() {
    let others = history(0..8, QUIET);
    let comparison = super::super::comparison(&nth(8, QUIET, 1.0), &nth(9, QUIET, 0.95), &others);
    let lost = result(&comparison, LIMITED);
    let ratio = lost.comparison.expect("eight trials each").ratio;
    assert!(lost.verdict == Verdict::Worse && (ratio - 0.95).abs() < 0.01, "{lost:#?}");
    assert!(lost.between_runs.is_some_and(|runs| runs.runs == 9 && runs.floor < 0.02), "{lost:#?}");
    assert!(
        comparison.results.iter().filter(|it| it.result != LIMITED).all(|it| it.verdict == Verdict::Same),
        "{comparison:#?}"
    );
    assert_eq!(gate(&comparison, 0.01).outcome, GateOutcome::Regressed);
}

#[test]
fn noise_between_runs_hides_five_percent_and_leaves_the_gate_undecided() {
    let others = history(0..8, UNSTEADY);
    let (a, b) = (nth(8, UNSTEADY, 1.0), nth(9, UNSTEADY, 0.95));
    let comparison = super::super::comparison(&a, &b, &others);
    let lost = result(&comparison, LIMITED);
    let runs = lost.between_runs.expect("nine runs");
    assert!(lost.verdict == Verdict::Same && runs.floor > 0.1 && lost.floor == Some(runs.floor), "{lost:#?}");
    let gate = gate(&comparison, 0.03);
    assert_eq!(
        (gate.outcome, gate.regressions.len(), gate.undecided.len()),
        (GateOutcome::Undecided, 0, 4),
        "{gate:#?}"
    );
    let reason = &gate.undecided.iter().find(|open| open.result == LIMITED).expect("it is among them").reason;
    assert!(
        reason.starts_with("The noise between 9 runs of this scenario, ")
            && reason.ends_with("hides a loss of 3 %."),
        "{reason}"
    );
}

#[test]
fn estimated_noise_prevents_false_alarms_of_unsteady_runs() {
    let (mut assumed, mut learned, mut same) = (0, 0, 0);
    for at in 0..12 {
        let others = history(20 * at..20 * at + 8, UNSTEADY);
        let (a, b) = (nth(20 * at + 8, UNSTEADY, 1.0), nth(20 * at + 9, UNSTEADY, 1.0));
        let alarms = |comparison: &RunComparison| {
            comparison
                .results
                .iter()
                .filter(|it| matches!(it.verdict, Verdict::Better | Verdict::Worse))
                .count()
        };
        let with = super::super::comparison(&a, &b, &others);
        (assumed, learned) = (assumed + alarms(&compare(&a, &b)), learned + alarms(&with));
        same += with.results.iter().filter(|it| it.verdict == Verdict::Same).count();
    }
    assert!(
        assumed > 12 && learned <= 2 && same >= 44,
        "{assumed} and {learned} alarms, {same} the same, of 48 results"
    );
}

#[test]
fn loss_is_judged_by_the_level_of_all_runs() {
    let noise = Noise { trial: 0.003, block: 0.002, run: 0.03 };
    let found = (0..12).filter(|at| {
        let first = 40 * at;
        let others = history(first..first + 9, noise);
        let (a, b) = (nth(first + 9, noise, 1.0), nth(first + 10, noise, 0.85));
        let comparison = super::super::comparison(&a, &b, &others);
        let lost = result(&comparison, LIMITED);
        let expected = lost.between_runs.and_then(|runs| runs.expected);
        assert!(expected.is_none_or(|it| it.low < it.high && lost.floor.is_some_and(|floor| floor < 0.2)));
        lost.verdict == Verdict::Worse
    });
    let found = found.count();
    assert!(found >= 9, "{found} of 12");
}

#[test]
fn loss_in_both_runs_is_explained_by_the_level() {
    let lost = nth(20, QUIET, 0.93);
    let comparison = super::super::comparison(&lost, &nth(21, QUIET, 0.945), &history(0..20, QUIET));
    let lost = result(&comparison, LIMITED);
    assert!(lost.comparison.is_some_and(|it| it.ratio > 1.01), "B is faster than A: {lost:#?}");
    assert_eq!(lost.verdict, Verdict::Worse, "{lost:#?}");
    let reason = lost.reason.as_deref().unwrap_or_default();
    assert!(
        reason.starts_with("B is 94.")
            && reason.ends_with("of 21 runs of this scenario; A differs from that level too."),
        "{reason}"
    );
}

#[test]
fn loss_of_the_rarer_level_is_not_the_same_within_the_noise_of_runs() {
    let at_two_levels = |number: i64, high: f64| {
        let mut record = nth_of(20, number, QUIET, 1.0);
        let own = record.trials.iter_mut().filter(|trial| trial.result == LIMITED && trial.block % 7 == 0);
        own.for_each(|trial| trial.measurement = stream_of(high));
        record
    };
    let others: Vec<RunRecord> = (0..8).map(|number| at_two_levels(number, 64e9)).collect();
    for (high, same) in [(64e9, true), (48e9, false)] {
        let comparison = super::super::comparison(&at_two_levels(8, 64e9), &at_two_levels(9, high), &others);
        let mixed = result(&comparison, LIMITED);
        assert!(mixed.between_runs.is_some(), "{mixed:#?}");
        assert_eq!(mixed.verdict == Verdict::Same, same, "{mixed:#?}");
    }
}

#[test]
fn old_loss_in_history_does_not_hide_a_new_one() {
    let mut others = history(0..5, QUIET);
    others.extend((5..9).map(|number| nth(number, QUIET, 0.9)));
    let comparison = super::super::comparison(&nth(9, QUIET, 0.9), &nth(10, QUIET, 0.9 * 0.95), &others);
    let lost = result(&comparison, LIMITED);
    assert!(lost.verdict == Verdict::Worse && lost.floor.is_some_and(|floor| floor < 0.025), "{lost:#?}");
}

#[test]
fn estimates_noise_only_from_comparable_runs() {
    let (a, b) = (nth(6, QUIET, 1.0), nth(7, QUIET, 1.0));
    let mut others = history(0..13, QUIET);
    others.reverse();
    let (of_a, of_b) = (6, 5);
    assert_eq!((&others[of_a].header.id, &others[of_b].header.id), (&a.header.id, &b.header.id));
    let spoil: [fn(&mut RunRecord); 5] = [
        |run| run.header.scenario.digest = "0ther".into(),
        |run| run.header.environment.as_mut().expect("measured").kernel = "6.19.0".into(),
        |run| run.header.tool = "0.0.1".into(),
        |run| {
            run.header.remedy_trials =
                Some(RemedyTrials { run: RunId("small-01".into()), remedies: Vec::new() });
        },
        |run| run.header.origin = imported(about(1e9)).record.header.origin,
    ];
    for (run, spoil) in others.iter_mut().zip(spoil) {
        spoil(run);
    }
    others[7].header.environment.as_mut().expect("measured").load_average = Some([9.0; 3]);
    let comparison = super::super::comparison(&a, &b, &others);
    let names: Vec<&str> = comparison.history.iter().map(|run| run.0.as_str()).collect();
    assert_eq!(names, ["small-00", "small-01", "small-02", "small-03", "small-04", "small-05", "small-06"]);
}

#[test]
fn too_few_runs_or_trials_give_no_noise_estimate() {
    let (a, b) = (nth(6, QUIET, 1.0), nth(7, QUIET, 1.0));
    let two = super::super::comparison(&a, &b, &history(0..2, QUIET));
    assert!(two.history.len() == 3 && two.results.iter().all(|it| it.between_runs.is_none()), "{two:#?}");
    let mut others = history(0..4, QUIET);
    others[0].trials.retain(|trial| trial.result != LIMITED || trial.block < 2);
    others[1].trials.retain(|trial| trial.result != LIMITED || trial.block < 3);
    let comparison = super::super::comparison(&a, &b, &others);
    let runs = |id: &str| result(&comparison, id).between_runs.map(|runs| runs.runs);
    assert_eq!((runs(LIMITED), runs("plain/bulk")), (None, Some(5)), "{comparison:#?}");
}

#[test]
fn reports_uncertainty_that_the_trials_leave() {
    let wide = Noise { trial: 0.12, block: 0.0, run: 0.03 };
    let others = history(0..8, wide);
    let reasons = (0..6).flat_map(|at| {
        let comparison = super::super::comparison(&nth(8, wide, 1.0), &nth(30 + at, wide, 1.0), &others);
        comparison.results.into_iter().filter_map(|it| it.reason.filter(|_| it.verdict == Verdict::Same))
    });
    let reasons: Vec<String> = reasons.collect();
    assert!(
        reasons.iter().any(|reason| reason.contains("within the noise between the 9 runs")),
        "{reasons:#?}"
    );
    assert!(reasons.iter().all(|reason| !reason.contains("established to be smaller than")), "{reasons:#?}");
    let quiet = super::super::comparison(&nth(8, QUIET, 1.0), &nth(30, QUIET, 1.0), &history(0..8, QUIET));
    assert!(quiet.results.iter().all(|it| it.verdict == Verdict::Same && it.reason.is_none()), "{quiet:#?}");
}
