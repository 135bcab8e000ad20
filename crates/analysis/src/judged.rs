//! All comparisons of a run.

use findings::{Comparison, Findings};

/// One cell against another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judged<'a> {
    pub(crate) cell: &'a str,
    pub(crate) reference: &'a str,
    pub(crate) comparison: &'a Comparison,
}

/// All comparisons; pairs shown in two places appear twice.
pub(crate) fn all(findings: &Findings) -> impl Iterator<Item = Judged<'_>> {
    against_baseline(findings)
        .chain(costs(findings))
        .chain(findings.effects.iter().map(|effect| Judged {
            cell: &effect.cell,
            reference: &effect.reference_cell,
            comparison: &effect.change,
        }))
        .chain(findings.twins.iter().flat_map(|twins| &twins.pairs).map(|pair| Judged {
            cell: &pair.with,
            reference: &pair.without,
            comparison: &pair.change,
        }))
        .chain(ranks(findings))
}

fn against_baseline(findings: &Findings) -> impl Iterator<Item = Judged<'_>> {
    findings.cells.iter().filter_map(|cell| {
        let mut baselines =
            findings.cells.iter().filter(|other| other.baseline && other.workload == cell.workload);
        let reference = &baselines.next()?.id;
        Some(Judged { cell: &cell.id, reference, comparison: cell.against_baseline.as_ref()? })
    })
}

fn costs(findings: &Findings) -> impl Iterator<Item = Judged<'_>> {
    findings.ladders.iter().flat_map(|ladder| {
        ladder.rungs.iter().filter_map(|rung| {
            let below = ladder.rungs.iter().find(|other| Some(&other.path) == rung.below.as_ref())?;
            Some(Judged { cell: &rung.cell, reference: &below.cell, comparison: rung.cost.as_ref()? })
        })
    })
}

fn ranks(findings: &Findings) -> impl Iterator<Item = Judged<'_>> {
    findings.rankings.iter().flat_map(|ranking| {
        let best = ranking.ranks.first();
        ranking.ranks.iter().filter_map(move |rank| {
            Some(Judged { cell: &rank.cell, reference: &best?.cell, comparison: rank.against_best.as_ref()? })
        })
    })
}
