//! `bimodal`: a result has two levels, so its value describes one of them or neither.

use samples::RunId;
use workload::Metric;

use super::prelude::*;
use crate::modality::{Modality, SamplingUnit, modality};

pub(crate) const RULE: Rule = Rule::measurement("bimodal", look);

/// A smaller fraction of samples at the other level hardly affects a median.
const MINORITY: f64 = 0.2;
/// With more jumps, a trial alternates between two levels.
const FEW_SHIFTS: usize = 3;

fn look(context: &Context<'_>) -> Vec<Claim> {
    let found = context
        .results()
        .filter_map(|(summary, result)| Some((result, unexplained(summary, modality(result)?)?)));
    let (minor, major): (Vec<_>, Vec<_>) = found.partition(|(_, modality)| is_minor(modality));
    let apart = |modality: &Modality| modality.levels.high / modality.levels.low;
    let claim = |found: &Vec<(&Observations<'_>, Modality)>| {
        let widest = found.iter().max_by(|one, other| apart(&one.1).total_cmp(&apart(&other.1)))?;
        Some(finding(widest, found, &context.findings.run.id))
    };
    [major, minor].iter().filter_map(claim).collect()
}

fn is_minor(modality: &Modality) -> bool {
    let high = modality.levels.share_high;
    modality.of == SamplingUnit::RoundTrips && high.min(1.0 - high) < MINORITY
}

/// Returns `None` if level shifts within trials explain the two levels, because `level-shift` reports them.
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
) -> Claim {
    let (low, high) = levels(widest, modality);
    let (what, number) = match found {
        [_] => (phrase![format!("The {} of ", modality.of), *widest, " are bimodal"], "its value"),
        several => {
            (phrase![count(several.len(), "result"), " are bimodal, most of all ", *widest], "their values")
        }
    };
    let (severity, advice) = if is_minor(modality) {
        (Severity::Warning, "medians are those of the more frequent level".to_owned())
    } else {
        (Severity::Serious, format!("do not use {number}"))
    };
    Claim::new(severity, phrase![what, " (", low, " and ", high, ")"])
        .detail(advice)
        .with_results(found.iter().map(|(result, _)| result.record.id.clone()))
        .with_evidence(found.iter().map(|(result, modality)| evidence(result, modality)))
        .with_limits(["Bimodality is judged by the distance between the levels; a single level shift \
             halfway through a trial looks the same."])
        .with_remedy(remedy(
            found.iter().any(|(result, _)| result.record.placement == "free"),
            (widest.metric == Metric::Throughput).then_some(run),
        ))
}

fn levels(result: &Observations<'_>, modality: &Modality) -> (Phrase, Phrase) {
    (value(result.metric, modality.levels.low), value(result.metric, modality.levels.high))
}

fn evidence(result: &Observations<'_>, modality: &Modality) -> Evidence {
    let (low, high) = levels(result, modality);
    let share = modality.levels.share_high;
    Evidence::new(format!("{} of {}", modality.of, result.label))
        .share(1.0 - share)
        .text(format!(" at {low}, "))
        .share(share)
        .text(format!(" at {high}"))
}

fn remedy(free: bool, run: Option<&RunId>) -> Remedy {
    let action = if free {
        "Pin both ends (`placement` in a scenario, `-A` of `plumb client`) and measure again"
    } else {
        "Use the time series of the trials to find what switches between the levels"
    };
    let series = run.map(|run| format!("plumb plot {run} --kind time-series -o series.svg"));
    Remedy {
        change: free.then(|| Change::Placement { place: "cross-cpu".into() }),
        ..Remedy::manual(action, series.into_iter().collect())
            .explained("Until then, study the levels separately.")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::levels(&[5e9, 9e9]),
        spares: || made::levels(&[8.6e9, 9e9]),
        severity: Severity::Serious,
        says: &["5.01 Gbit/s", "9.02 Gbit/s", "are bimodal", "do not use"],
        change: Some("placement"),
    };
}
