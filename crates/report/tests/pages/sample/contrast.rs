//! Contrasts made by hand: the egress gateway before and after a kernel was replaced, and a log against a run.

use findings::{
    Basis, BetweenRuns, CONTRAST_SCHEMA, CellComparison, CellSummary, Comparison, Difference, Estimate, Gate,
    GateOutcome, Interval, OpenQuestion, RunComparison, RunSummary, SurroundingChange, Verdict,
};
use samples::{RunId, UnixMillis};

use super::{
    cells::{comparison, estimate, ping_pong, stream},
    run,
};

/// One cell of each verdict, another kernel, a cell in one run only.
pub(crate) fn contrast() -> RunComparison {
    let (a, b) = runs();
    RunComparison {
        schema: CONTRAST_SCHEMA,
        a,
        b,
        surroundings: vec![
            changed("kernel", "6.12.9", "6.18.0", true),
            changed("offload tx-tcp-segmentation of node1:vxlan0", "on", "off", true),
            changed("load average before", "0.31", "1.20", false),
        ],
        cells: vec![
            held(&stream("node-to-node", None, 33.04, None), 0.998, Verdict::Same),
            held(&stream("vxlan-to-vxlan", Some("on"), 19.23, None), 0.871, Verdict::Worse),
            unknown(&stream("vxlan-to-vxlan", Some("off"), 4.61, None)),
            unknown(&stream("pod-to-target", Some("off"), 4.55, None)),
            held(&ping_pong("pod-to-target", Some("on"), 77_900.0, None), 0.912, Verdict::Better),
        ],
        history: vec![],
        only_a: vec!["pod-to-target/stream/vxlan-offload=on".into()],
        only_b: vec![],
        caveats: vec!["The two runs were made nine days apart.".into()],
    }
}

/// What a gate of 5 % says of [`contrast`].
pub(crate) fn lost() -> Gate {
    Gate {
        most_loss: 0.05,
        outcome: GateOutcome::Lost,
        lost: vec![contrast().cells[1].cell.clone()],
        unknown: vec![OpenQuestion {
            cell: contrast().cells[2].cell.clone(),
            why: "B has only 2 trials, too few for an interval".into(),
        }],
    }
}

/// The same where further runs of the scenario show what runs differ by: in one cell by much.
pub(crate) fn learned() -> RunComparison {
    let mut contrast = contrast();
    contrast.surroundings.clear();
    contrast.cells.retain(|cell| cell.comparison.is_some());
    let wide = held(&stream("node-to-node", None, 33.04, None), 1.12, Verdict::Same);
    let interval = Some(Interval { low: 0.936, high: 1.312, confidence: 0.94 });
    let wide_ratio = wide.comparison.map(|ratio| Comparison { ratio_interval: interval, ..ratio });
    contrast.cells[0] = CellComparison { comparison: wide_ratio, ..wide };
    let unsteady = "By their trials alone the ratio is 93.60 % to 131.20 %. The same means here that they are no farther apart \
                    than two of the 6 runs of this scenario may be, 22.40 %.";
    for (cell, floor) in contrast.cells.iter_mut().zip([0.224, 0.031, 0.02]) {
        cell.between_runs = Some(BetweenRuns { floor, runs: 6 });
        cell.floor = Some(floor);
        cell.why = (cell.verdict == Verdict::Same).then(|| unsteady.into());
    }
    contrast.history = (6..12).map(|day| RunId(format!("egress-gateway-202611{day:02}-113015"))).collect();
    contrast
}

/// What a gate of 5 % says of [`learned`].
pub(crate) fn hidden() -> Gate {
    let open = learned().cells[0].cell.clone();
    let why = "The noise between 6 runs of this scenario, 22.40 %, hides a loss of 5 %.".into();
    Gate { unknown: vec![OpenQuestion { cell: open, why }], ..lost() }
}

/// One cell of one trial each, the same in both.
pub(crate) fn same() -> RunComparison {
    let (a, b) = runs();
    let single =
        |estimate: Estimate| Estimate { basis: Basis::Intervals, trials: 1, deviation: None, ..estimate };
    let cell = held(&stream("node-to-node", None, 33.04, None), 1.004, Verdict::Same);
    let within = Comparison { basis: Basis::Intervals, ..comparison(1.004, 0.1e9, Difference::None) };
    let cell = CellComparison { a: single(cell.a), b: single(cell.b), comparison: Some(within), ..cell };
    RunComparison {
        surroundings: vec![],
        cells: vec![cell],
        history: vec![],
        only_a: vec![],
        only_b: vec![],
        caveats: vec![],
        a,
        b,
        schema: CONTRAST_SCHEMA,
    }
}

/// Runs of different scenarios.
pub(crate) fn nothing_in_common() -> RunComparison {
    let only = |of: &str| (1..9).map(|number| format!("{of}{number}/stream")).collect();
    RunComparison { cells: vec![], only_a: only("here"), only_b: only("there"), ..contrast() }
}

/// What a gate says where nothing can be compared with anything.
pub(crate) fn cannot_tell() -> Gate {
    Gate { most_loss: 0.05, outcome: GateOutcome::CannotTell, lost: vec![], unknown: vec![] }
}

fn runs() -> (RunSummary, RunSummary) {
    let nine_days = 9 * 86_400_000;
    let earlier = RunSummary {
        id: RunId("egress-gateway-20261112-113015".into()),
        started: UnixMillis(run().started.0 - nine_days),
        ..run()
    };
    (earlier, run())
}

fn changed(what: &str, a: &str, b: &str, weighty: bool) -> SurroundingChange {
    SurroundingChange { what: what.into(), a: a.into(), b: b.into(), weighty }
}

fn held(cell: &CellSummary, ratio: f64, verdict: Verdict) -> CellComparison {
    let b = estimate(cell.value.median * ratio);
    let difference = if ratio < 1.0 { Difference::Lower } else { Difference::Higher };
    let difference = if verdict == Verdict::Same { Difference::None } else { difference };
    CellComparison {
        cell: cell.id.clone(),
        cell_b: None,
        path: cell.path.clone(),
        workload: cell.workload.clone(),
        levels: cell.levels.clone(),
        metric: cell.metric,
        a: cell.value,
        b,
        comparison: Some(comparison(ratio, cell.value.median * (ratio - 1.0), difference)),
        floor: Some(0.021),
        between_runs: None,
        p: Some(if verdict == Verdict::Same { 0.61 } else { 0.0079 }),
        disturbed: None,
        verdict,
        why: None,
    }
}

fn unknown(cell: &CellSummary) -> CellComparison {
    let few = Estimate { interval: None, trials: 2, ..cell.value };
    CellComparison {
        b: few,
        comparison: None,
        p: None,
        disturbed: None,
        why: Some("B has only 2 trials, too few for an interval".into()),
        ..held(cell, 1.0, Verdict::Unknown)
    }
}
