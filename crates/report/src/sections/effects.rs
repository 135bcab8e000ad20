//! Effect of each factor's levels, with everything else equal.

use findings::{FactorEffect, Findings};

use super::{Source, speedup};
use crate::{
    labels,
    page::*,
    phrases::{self, Confidence},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let effects = &findings.effects;
    let several = labels::workloads(findings).len() > 1;
    let others = effects.iter().any(|effect| !effect.others.is_empty());
    let ratios = effects.iter().filter_map(|effect| effect.change.ratio_interval);
    let common =
        phrases::common(ratios.chain(effects.iter().filter_map(|effect| effect.change.difference_interval)));
    let confidence = if common.is_some() { Confidence::InHead } else { Confidence::Inline };
    let row = |effect| row(effect, several, others).into_iter().chain(change(findings, effect, confidence));
    let table = Table {
        columns: columns(several, others, common.as_deref()),
        rows: effects.iter().map(|effect| row(effect).collect()).collect(),
        caption: None,
    };
    let bare = effects.iter().all(|effect| effect.change.ratio_interval.is_none());
    let phrase = !bare && !speedup::shows_all(findings);
    phrase.then(|| section("Effect of each setting", vec![Block::Table(table)]))
}

fn columns(several: bool, others: bool, confidence: Option<&str>) -> Vec<Column> {
    let mut columns = vec![left("Setting"), left("Path")];
    columns.extend(several.then(|| left("Workload")));
    columns.extend(others.then(|| left("With")));
    let headed = |title: &str| {
        right(confidence.map_or(title.to_owned(), |confidence| {
            format!("{title} {}", glued(&format!("({confidence} interval)")))
        }))
    };
    columns.extend([headed("Ratio"), headed("Change")]);
    columns
}

fn row(effect: &FactorEffect, several: bool, others: bool) -> Vec<Text> {
    let levels = glued(&format!("{} → {}", effect.reference, effect.level));
    let setting = format!("{}: {levels}", effect.factor);
    let mut row = vec![Text::strong(softened(&setting)), effect.path.as_str().into()];
    row.extend(several.then(|| effect.workload.as_str().into()));
    row.extend(others.then(|| softened(&labels::levels(&effect.others).unwrap_or_default()).into()));
    row
}

fn change(findings: &Findings, effect: &FactorEffect, confidence: Confidence) -> [Text; 2] {
    let result = findings.result(&effect.result);
    let value = result.map_or(effect.change.difference, |result| result.value.estimate);
    let tone = phrases::tone(effect.metric, &effect.change);
    let share = Text::of(tone, phrases::share(&effect.change, confidence));
    let difference = Text::from(phrases::difference(effect.metric, value, &effect.change, confidence));
    [share, phrases::judged(&effect.change, difference)]
}
