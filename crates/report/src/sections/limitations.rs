//! Limitations of the run and warnings about its trials.

use std::mem;

use findings::{Basis, Findings, ResultSummary};
use samples::ValidityWarning;

use super::Source;
use crate::{page::*, phrases};

type ResultWarning<'a> = (&'a ResultSummary, &'a ValidityWarning, u32);

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let warned: Vec<ResultWarning<'_>> = findings
        .results
        .iter()
        .flat_map(|result| result.warnings.iter().map(move |(warning, trials)| (result, warning, *trials)))
        .collect();
    let kinds = by_kind(&warned);
    let mut items: Vec<Text> =
        findings.limitations.iter().map(|limitation| limitation.as_str().into()).collect();
    items.extend(has_marks(findings).then(phrases::what_the_mark_means));
    items.extend(kinds.iter().map(|kind| summary(kind)));
    if items.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::List(items)];
    if kinds.iter().any(|kind| kind.len() > 1) {
        let each = warned.iter().map(one).collect();
        blocks.push(Block::Folded { title: "Warnings by result".into(), blocks: vec![Block::List(each)] });
    }
    Some(section("Limitations", blocks))
}

fn has_marks(findings: &Findings) -> bool {
    let results = findings
        .results
        .iter()
        .filter(|result| result.value.interval.is_some())
        .map(|result| result.value.basis);
    let effects = findings.effects.iter().map(|effect| effect.change.basis);
    results.chain(effects).any(|basis| basis == Basis::Intervals)
}

fn by_kind<'a>(warned: &[ResultWarning<'a>]) -> Vec<Vec<ResultWarning<'a>>> {
    let mut kinds: Vec<Vec<ResultWarning<'a>>> = Vec::new();
    for &entry in warned {
        let kind = mem::discriminant(entry.1);
        match kinds.iter_mut().find(|others| mem::discriminant(others[0].1) == kind) {
            Some(others) => others.push(entry),
            None => kinds.push(vec![entry]),
        }
    }
    kinds
}

fn summary(kind: &[ResultWarning<'_>]) -> Text {
    let first = one(&kind[0]);
    match kind.len() {
        1 => first,
        results => Text::doubtful(format!("{results} results, e.g. ")).then(first),
    }
}

fn one((result, warning, trials): &ResultWarning<'_>) -> Text {
    let often = format!(" ({trials} of {})", phrases::count(result.value.trials, "trial"));
    Text::strong(&result.label).and_plain(format!(": {}", phrases::warning(warning))).and_faint(often)
}
