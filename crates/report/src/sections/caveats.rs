//! Caveats: those of the run and the warnings of its trials.

use std::mem;

use findings::{Basis, CellSummary, Findings};
use samples::ValidityWarning;

use super::Source;
use crate::{
    labels,
    page::{Block, Section, section},
    phrases,
    text::{Text, Tone},
};

/// A warning of a result, and the number of trials with it.
type CellWarning<'a> = (&'a CellSummary, &'a ValidityWarning, u32);

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let doubted: Vec<CellWarning<'_>> = findings
        .cells
        .iter()
        .flat_map(|cell| cell.doubts.iter().map(move |(doubt, trials)| (cell, doubt, *trials)))
        .collect();
    let kinds = by_kind(&doubted);
    let mut items: Vec<Text> = findings.caveats.iter().map(|caveat| caveat.as_str().into()).collect();
    items.extend(has_marks(findings).then(phrases::what_the_mark_means));
    items.extend(kinds.iter().map(|kind| summary(findings, kind)));
    if items.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::List(items)];
    if kinds.iter().any(|kind| kind.len() > 1) {
        let each = doubted.iter().map(|doubted| one(findings, doubted)).collect();
        blocks.push(Block::Folded { title: "Warnings by result".into(), blocks: vec![Block::List(each)] });
    }
    Some(section("Limitations", blocks))
}

/// Whether an interval on the page was computed within a single trial.
fn has_marks(findings: &Findings) -> bool {
    let cells =
        findings.cells.iter().filter(|cell| cell.value.interval.is_some()).map(|cell| cell.value.basis);
    let effects = findings.effects.iter().map(|effect| effect.change.basis);
    cells.chain(effects).any(|basis| basis == Basis::Intervals)
}

fn by_kind<'a>(doubted: &[CellWarning<'a>]) -> Vec<Vec<CellWarning<'a>>> {
    let mut kinds: Vec<Vec<CellWarning<'a>>> = Vec::new();
    for &entry in doubted {
        let kind = mem::discriminant(entry.1);
        match kinds.iter_mut().find(|others| mem::discriminant(others[0].1) == kind) {
            Some(others) => others.push(entry),
            None => kinds.push(vec![entry]),
        }
    }
    kinds
}

fn summary(findings: &Findings, kind: &[CellWarning<'_>]) -> Text {
    let first = one(findings, &kind[0]);
    match kind.len() {
        1 => first,
        cells => Text::of(Tone::Doubtful, format!("{cells} results, e.g. ")).then(first),
    }
}

fn one(findings: &Findings, (cell, doubt, trials): &CellWarning<'_>) -> Text {
    let often = format!(" ({trials} of {})", phrases::count(u64::from(cell.value.trials), "trial", "trials"));
    Text::of(Tone::Strong, labels::cell(findings, cell))
        .and(Tone::Plain, format!(": {}", phrases::warning(doubt)))
        .and(Tone::Faint, often)
}
