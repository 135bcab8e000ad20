//! All comparisons of a run.

use findings::{Comparison, Findings};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Judged<'a> {
    pub(crate) result: &'a str,
    pub(crate) reference: &'a str,
    pub(crate) comparison: &'a Comparison,
}

/// Includes a pair twice if the report shows it in two places.
pub(crate) fn all(findings: &Findings) -> impl Iterator<Item = Judged<'_>> {
    against_baseline(findings)
        .chain(costs(findings))
        .chain(findings.effects.iter().map(|effect| Judged {
            result: &effect.result,
            reference: &effect.reference_result,
            comparison: &effect.change,
        }))
        .chain(
            findings.matched_pairs.iter().flat_map(|matched_pairs| &matched_pairs.pairs).map(|pair| Judged {
                result: &pair.with,
                reference: &pair.without,
                comparison: &pair.change,
            }),
        )
        .chain(ranks(findings))
}

fn against_baseline(findings: &Findings) -> impl Iterator<Item = Judged<'_>> {
    findings.results.iter().filter_map(|result| {
        let mut baselines =
            findings.results.iter().filter(|other| other.baseline && other.workload == result.workload);
        let reference = &baselines.next()?.id;
        Some(Judged { result: &result.id, reference, comparison: result.against_baseline.as_ref()? })
    })
}

fn costs(findings: &Findings) -> impl Iterator<Item = Judged<'_>> {
    findings.cost_breakdowns.iter().flat_map(|breakdown| {
        breakdown.steps.iter().filter_map(|step| {
            let below = breakdown.steps.iter().find(|other| Some(&other.path) == step.below.as_ref())?;
            Some(Judged { result: &step.result, reference: &below.result, comparison: step.cost.as_ref()? })
        })
    })
}

fn ranks(findings: &Findings) -> impl Iterator<Item = Judged<'_>> {
    findings.rankings.iter().flat_map(|ranking| {
        let best = ranking.ranks.first();
        ranking.ranks.iter().filter_map(move |rank| {
            Some(Judged {
                result: &rank.result,
                reference: &best?.result,
                comparison: rank.against_best.as_ref()?,
            })
        })
    })
}
