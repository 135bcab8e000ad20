//! `bimodal`: a result has two levels, so its median describes one of them or neither.

use findings::{Change, Evidence, Finding, Remedy, ResultSummary, Severity};
use samples::RunId;
use workload::Metric;

use super::{Context, Rule};
use crate::{
    modality::{Modality, SamplingUnit, modality},
    observations::Observations,
    words::{count, value},
};

pub(crate) const RULE: Rule = Rule { id: "bimodal", look };

/// With more jumps than this, a trial alternates between two levels.
const FEW_SHIFTS: usize = 3;

fn look(context: &Context<'_>) -> Vec<Finding> {
    let found: Vec<(&Observations<'_>, Modality)> = context
        .results()
        .filter_map(|(told, result)| Some((result, unexplained(told, modality(result)?)?)))
        .collect();
    let apart = |modality: &Modality| modality.levels.high / modality.levels.low;
    let widest = found.iter().max_by(|one, other| apart(&one.1).total_cmp(&apart(&other.1)));
    widest.map(|widest| finding(widest, &found, &context.findings.run.id)).into_iter().collect()
}

/// Level shifts within trials explain some bimodal results. They are left to `level-shift`.
fn unexplained(result: &ResultSummary, modality: Modality) -> Option<Modality> {
    let most = result
        .shifts
        .iter()
        .map(|shift| result.shifts.iter().filter(|other| other.trial == shift.trial).count())
        .max();
    let few = most.is_some_and(|most| most <= FEW_SHIFTS);
    (modality.of != SamplingUnit::Intervals || !few).then_some(modality)
}

fn finding(
    (widest, modality): &(&Observations<'_>, Modality),
    found: &[(&Observations<'_>, Modality)],
    run: &RunId,
) -> Finding {
    let (low, high) = levels(widest, modality);
    let id = &widest.record.id;
    let claim = match found {
        [_] => format!(
            "The {} of {id} are bimodal ({low} and {high}): do not use {}.",
            modality.of,
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
        results: found.iter().map(|(result, _)| result.record.id.clone()).collect(),
        evidence: found.iter().map(|(result, modality)| evidence(result, modality)).collect(),
        limitations: vec![
            "Bimodality is judged by the distance between the levels; a single level shift halfway through a trial \
             looks the same."
                .into(),
        ],
        remedy: Some(remedy(
            found.iter().any(|(result, _)| result.record.placement == "free"),
            (widest.metric == Metric::Throughput).then_some(run),
        )),
    }
}

/// The published number: the median over the trials, or the mean of a single stream.
fn shown<'a>(result: &Observations<'_>, median: &'a str, average: &'a str) -> &'a str {
    if result.points.len() == 1 && result.metric != Metric::RoundTrip { average } else { median }
}

fn levels(result: &Observations<'_>, modality: &Modality) -> (String, String) {
    (value(result.metric, modality.levels.low), value(result.metric, modality.levels.high))
}

fn evidence(result: &Observations<'_>, modality: &Modality) -> Evidence {
    let (low, high) = levels(result, modality);
    let share = modality.levels.share_high;
    Evidence::new(format!("{} of {}", modality.of, result.record.id))
        .share(1.0 - share)
        .text(format!(" at {low}, "))
        .share(share)
        .text(format!(" at {high}"))
}

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
