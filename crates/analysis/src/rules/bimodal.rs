//! `bimodal`: a result has two levels, so its median describes one of them or neither.

use findings::{CellSummary, Change, Evidence, Finding, Remedy, Severity};
use samples::RunId;
use workload::Metric;

use super::{Context, Rule};
use crate::{
    modality::{Modality, SamplingUnit, modality},
    observations::Observations,
    words::{count, value},
};

pub(crate) const RULE: Rule = Rule { id: "bimodal", look };

/// More jumps of a trial than this are two levels that it went back and forth between.
const FEW_SHIFTS: usize = 3;

/// One finding for all results, with the levels of each as evidence.
fn look(context: &Context<'_>) -> Vec<Finding> {
    let found: Vec<(&Observations<'_>, Modality)> = context
        .cells()
        .filter_map(|(told, cell)| Some((cell, unexplained(told, modality(cell)?)?)))
        .collect();
    let apart = |humps: &Modality| humps.levels.high / humps.levels.low;
    let widest = found.iter().max_by(|one, other| apart(&one.1).total_cmp(&apart(&other.1)));
    widest.map(|widest| finding(widest, &found, &context.findings.run.id)).into_iter().collect()
}

/// Levels explained by a few shifts within trials are left to `level-shift`.
fn unexplained(cell: &CellSummary, humps: Modality) -> Option<Modality> {
    let most = cell
        .shifts
        .iter()
        .map(|shift| cell.shifts.iter().filter(|other| other.trial == shift.trial).count())
        .max();
    let few = most.is_some_and(|most| most <= FEW_SHIFTS);
    (humps.of != SamplingUnit::Intervals || !few).then_some(humps)
}

fn finding(
    (widest, humps): &(&Observations<'_>, Modality),
    found: &[(&Observations<'_>, Modality)],
    run: &RunId,
) -> Finding {
    let (low, high) = levels(widest, humps);
    let id = &widest.record.id;
    let claim = match found {
        [_] => format!(
            "The {} of {id} are bimodal ({low} and {high}): do not use {}.",
            humps.of,
            shown(widest, "its median", "its average")
        ),
        several => format!(
            "{} are bimodal, most of all {id} ({low} and {high}): do not use {}.",
            count(several.len(), "result"),
            shown(widest, "their medians", "their averages")
        ),
    };
    Finding {
        id: String::new(),
        severity: Severity::Serious,
        claim,
        cells: found.iter().map(|(cell, _)| cell.record.id.clone()).collect(),
        evidence: found.iter().map(|(cell, humps)| evidence(cell, humps)).collect(),
        caveats: vec![
            "Bimodality is judged by the distance between the levels; a single level shift halfway through a trial \
             looks the same."
                .into(),
        ],
        remedy: Some(remedy(
            found.iter().any(|(cell, _)| cell.record.placement == "free"),
            (widest.metric == Metric::Throughput).then_some(run),
        )),
    }
}

/// The published number: the median over trials, or the mean of a single stream.
fn shown<'a>(cell: &Observations<'_>, median: &'a str, average: &'a str) -> &'a str {
    if cell.points.len() == 1 && cell.metric != Metric::RoundTrip { average } else { median }
}

fn levels(cell: &Observations<'_>, humps: &Modality) -> (String, String) {
    (value(cell.metric, humps.levels.low), value(cell.metric, humps.levels.high))
}

fn evidence(cell: &Observations<'_>, humps: &Modality) -> Evidence {
    let (low, high) = levels(cell, humps);
    let share = humps.levels.share_high;
    Evidence::new(format!("{} of {}", humps.of, cell.record.id))
        .share(1.0 - share)
        .text(format!(" at {low}, "))
        .share(share)
        .text(format!(" at {high}"))
}

/// `run`: where the series of its trials can be drawn.
fn remedy(free: bool, run: Option<&RunId>) -> Remedy {
    let action = if free {
        "Fix the placement of both ends (`placement` in a scenario, `-A` of `plumb client`) and measure again. \
         Until then, study the levels separately."
    } else {
        "Use the time series of the trials to find what switches between the levels. Until then, study the levels \
         separately."
    };
    let series = run.map(|run| format!("plumb plot {run} --kind time-series -o series.svg"));
    Remedy {
        change: free.then(|| Change::Placement { place: "cross-cpu".into() }),
        ..Remedy::manual(action.into(), series.into_iter().collect())
    }
}
