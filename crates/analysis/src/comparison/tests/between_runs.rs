//! Runs beside further runs of their scenario: what is learned from which of them, and what it does to verdict and gate.

use samples::{RemedyTrials, RunId, UnixMillis};

use super::*;

/// The n-th run of one scenario, in the order of time.
fn nth(number: i64, noise: Noise, share: f64) -> RunRecord {
    let mut record = run(8, 0x4157_0000 + number.unsigned_abs(), noise, share).record;
    record.header.id = RunId(format!("small-{number:02}"));
    record.header.started = UnixMillis(1_000_000 * number);
    record.header.scenario.digest = "ba5e".into();
    record
}

fn history(runs: std::ops::Range<i64>, noise: Noise) -> Vec<RunRecord> {
    runs.map(|number| nth(number, noise, 1.0)).collect()
}

const LIMITED: &str = "tunnel/bulk";
/// Runs that lie farther apart than their trials say.
const UNSTEADY: Noise = Noise { trial: 0.003, block: 0.002, run: 0.05 };

#[test]
fn a_loss_of_five_percent_is_worse_with_its_size_where_runs_are_steady() {
    let others = history(0..8, QUIET);
    let contrast = super::super::comparison(&nth(8, QUIET, 1.0), &nth(9, QUIET, 0.95), &others);
    let lost = cell(&contrast, LIMITED);
    let ratio = lost.comparison.expect("eight trials each").ratio;
    assert!(lost.verdict == Verdict::Worse && (ratio - 0.95).abs() < 0.01, "{lost:#?}");
    assert!(lost.between_runs.is_some_and(|runs| runs.runs == 9 && runs.floor < 0.02), "{lost:#?}");
    assert!(
        contrast.cells.iter().filter(|it| it.cell != LIMITED).all(|it| it.verdict == Verdict::Same),
        "{contrast:#?}"
    );
    assert_eq!(gate(&contrast, 0.01).outcome, GateOutcome::Lost);
}

#[test]
fn a_loss_of_five_percent_is_the_same_where_runs_differ_by_more_and_the_gate_cannot_tell() {
    let others = history(0..8, UNSTEADY);
    let (a, b) = (nth(8, UNSTEADY, 1.0), nth(9, UNSTEADY, 0.95));
    let contrast = super::super::comparison(&a, &b, &others);
    let lost = cell(&contrast, LIMITED);
    let runs = lost.between_runs.expect("nine runs");
    assert!(lost.verdict == Verdict::Same && runs.floor > 0.1 && lost.floor == Some(runs.floor), "{lost:#?}");
    let gate = gate(&contrast, 0.03);
    assert_eq!(
        (gate.outcome, gate.lost.len(), gate.unknown.len()),
        (GateOutcome::CannotTell, 0, 4),
        "{gate:#?}"
    );
    let why = &gate.unknown.iter().find(|open| open.cell == LIMITED).expect("it is among them").why;
    assert!(
        why.starts_with("The noise between 9 runs of this scenario, ")
            && why.ends_with("hides a loss of 3 %."),
        "{why}"
    );
}

#[test]
fn what_is_learned_ends_the_false_alarms_of_unsteady_runs() {
    let (mut assumed, mut learned, mut same) = (0, 0, 0);
    for at in 0..12 {
        let others = history(20 * at..20 * at + 8, UNSTEADY);
        let (a, b) = (nth(20 * at + 8, UNSTEADY, 1.0), nth(20 * at + 9, UNSTEADY, 1.0));
        let alarms = |contrast: &RunComparison| {
            contrast.cells.iter().filter(|it| matches!(it.verdict, Verdict::Better | Verdict::Worse)).count()
        };
        let with = super::super::comparison(&a, &b, &others);
        (assumed, learned) = (assumed + alarms(&contrast(&a, &b)), learned + alarms(&with));
        same += with.cells.iter().filter(|it| it.verdict == Verdict::Same).count();
    }
    assert!(
        assumed > 12 && learned <= 2 && same >= 44,
        "{assumed} and {learned} alarms, {same} the same, of 48 cells"
    );
}

#[test]
fn a_loss_long_ago_in_the_history_does_not_hide_one_now() {
    let mut others = history(0..5, QUIET);
    others.extend((5..9).map(|number| nth(number, QUIET, 0.9)));
    let contrast = super::super::comparison(&nth(9, QUIET, 0.9), &nth(10, QUIET, 0.9 * 0.95), &others);
    let lost = cell(&contrast, LIMITED);
    assert!(lost.verdict == Verdict::Worse && lost.floor.is_some_and(|floor| floor < 0.025), "{lost:#?}");
}

#[test]
fn only_runs_that_were_made_as_a_was_are_learned_from() {
    let (a, b) = (nth(6, QUIET, 1.0), nth(7, QUIET, 1.0));
    let mut others = history(0..13, QUIET);
    others.reverse();
    let (of_a, of_b) = (6, 5);
    assert_eq!((&others[of_a].header.id, &others[of_b].header.id), (&a.header.id, &b.header.id));
    let spoil: [fn(&mut RunRecord); 5] = [
        |run| run.header.scenario.digest = "0ther".into(),
        |run| run.header.environment.as_mut().expect("measured").kernel = "6.19.0".into(),
        |run| run.header.tool = "0.0.1".into(),
        |run| run.header.tries = Some(RemedyTrials { of: RunId("small-01".into()), remedies: Vec::new() }),
        |run| run.header.origin = imported(about(1e9)).record.header.origin,
    ];
    for (run, spoil) in others.iter_mut().zip(spoil) {
        // The newest, but for those that are A and B: these are no others anyway.
        spoil(run);
    }
    others[7].header.environment.as_mut().expect("measured").load_average = Some([9.0; 3]);
    let contrast = super::super::comparison(&a, &b, &others);
    let names: Vec<&str> = contrast.history.iter().map(|run| run.0.as_str()).collect();
    assert_eq!(names, ["small-00", "small-01", "small-02", "small-03", "small-04", "small-05", "small-06"]);
}

#[test]
fn too_few_runs_or_too_few_trials_of_a_cell_teach_nothing() {
    let (a, b) = (nth(6, QUIET, 1.0), nth(7, QUIET, 1.0));
    let two = super::super::comparison(&a, &b, &history(0..2, QUIET));
    assert!(two.history.len() == 3 && two.cells.iter().all(|it| it.between_runs.is_none()), "{two:#?}");
    let mut others = history(0..4, QUIET);
    others[0].trials.retain(|trial| trial.cell != LIMITED || trial.block < 2);
    others[1].trials.retain(|trial| trial.cell != LIMITED || trial.block < 3);
    let contrast = super::super::comparison(&a, &b, &others);
    let runs = |id: &str| cell(&contrast, id).between_runs.map(|runs| runs.runs);
    assert_eq!((runs(LIMITED), runs("plain/bulk")), (None, Some(5)), "{contrast:#?}");
}

#[test]
fn what_the_trials_alone_leave_open_is_said() {
    let wide = Noise { trial: 0.12, block: 0.0, run: 0.03 };
    let others = history(0..8, wide);
    let said = (0..6).flat_map(|at| {
        let contrast = super::super::comparison(&nth(8, wide, 1.0), &nth(30 + at, wide, 1.0), &others);
        contrast.cells.into_iter().filter_map(|it| it.why.filter(|_| it.verdict == Verdict::Same))
    });
    let said: Vec<String> = said.collect();
    assert!(said.iter().any(|why| why.contains("within the noise between the 9 runs")), "{said:#?}");
    assert!(said.iter().all(|why| !why.contains("nothing is called")), "{said:#?}");
}
