//! Compares a factor's levels (rows) across paths (columns), with the ratios below.

use std::collections::BTreeMap;

use findings::{Difference, FactorEffect, Findings, ResultSummary};

use super::Source;
use crate::{
    labels,
    page::*,
    phrases::{self, Confidence},
};

const MOST_LEVELS: usize = 4;

struct Matrix<'a> {
    factor: &'a str,
    workload: &'a str,
    others: &'a BTreeMap<String, String>,
    effects: Vec<&'a FactorEffect>,
}

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let mut shown: Vec<(&str, &str)> = Vec::new();
    let (mut blocks, mut others) = (Vec::new(), Vec::new());
    for matrix in matrices(findings).iter().filter(|matrix| matrix.is_readable()) {
        let drawn = [Block::Heading(matrix.heading()), Block::Table(matrix.table(findings))];
        if shown.contains(&(matrix.factor, matrix.workload)) {
            others.extend(drawn);
        } else {
            shown.push((matrix.factor, matrix.workload));
            blocks.extend(drawn);
        }
    }
    if !others.is_empty() {
        blocks.push(Block::Folded { title: "At other settings".into(), blocks: others });
    }
    section_of("Comparison of levels", blocks)
}

pub(super) fn shows_all(findings: &Findings) -> bool {
    !findings.effects.is_empty() && matrices(findings).iter().all(Matrix::is_readable)
}

fn matrices(findings: &Findings) -> Vec<Matrix<'_>> {
    let mut matrices: Vec<Matrix<'_>> = Vec::new();
    for effect in &findings.effects {
        let same = |matrix: &&mut Matrix<'_>| {
            (matrix.factor, matrix.workload, matrix.others)
                == (&effect.factor, &effect.workload, &effect.others)
        };
        match matrices.iter_mut().find(same) {
            Some(matrix) => matrix.effects.push(effect),
            None => matrices.push(Matrix {
                factor: &effect.factor,
                workload: &effect.workload,
                others: &effect.others,
                effects: vec![effect],
            }),
        }
    }
    matrices
}

impl<'a> Matrix<'a> {
    fn paths(&self) -> Vec<&'a str> {
        labels::distinct(self.effects.iter().map(|effect| effect.path.as_str()))
    }

    fn levels(&self) -> Vec<&'a str> {
        let references = self.effects.iter().map(|effect| effect.reference.as_str());
        labels::distinct(references.chain(self.effects.iter().map(|effect| effect.level.as_str())))
    }

    fn is_readable(&self) -> bool {
        self.paths().len() > 1 && self.levels().len() <= MOST_LEVELS
    }

    fn heading(&self) -> Text {
        let others = labels::levels(self.others).map(|others| format!(", with {others}"));
        let measured = phrases::measured_in(self.effects.first().map(|effect| effect.metric));
        Text::strong(self.factor).and_faint(format!(
            " of {}{} ({measured})",
            self.workload,
            others.unwrap_or_default()
        ))
    }

    fn table(&self, findings: &Findings) -> Table {
        let common = phrases::common(self.intervals(findings));
        let confidence = if common.is_some() { Confidence::InHead } else { Confidence::Inline };
        let paths = self.paths();
        let levels = self.levels();
        let ratios = levels.iter().skip(1).map(|level| self.ratios(level, &paths, confidence));
        let rows = levels.iter().map(|level| self.medians(findings, level, &paths, confidence)).chain(ratios);
        let columns = [left(self.factor)].into_iter().chain(paths.iter().map(|path| right(*path)));
        let phrase = |common: String| format!("{} intervals in brackets.", glued(&common));
        Table {
            columns: columns.collect(),
            rows: rows.collect(),
            caption: common.map(|common| Text::faint(phrase(common))),
        }
    }

    fn intervals(&self, findings: &Findings) -> Vec<findings::Interval> {
        let ratios = self.effects.iter().filter_map(|effect| effect.change.ratio_interval);
        let results = self.effects.iter().flat_map(|effect| [&effect.reference_result, &effect.result]);
        ratios.chain(results.filter_map(|id| findings.result(id)?.value.interval)).collect()
    }

    fn medians(&self, findings: &Findings, level: &str, paths: &[&str], confidence: Confidence) -> Vec<Text> {
        let median = |path: &&str| {
            let result = self.result(path, level).and_then(|id| findings.result(id));
            let shown = |result: &ResultSummary| {
                phrases::estimate_with(result.metric, &result.value, confidence).into()
            };
            result.map_or(Text::faint("-"), shown)
        };
        [Text::strong(level)].into_iter().chain(paths.iter().map(median)).collect()
    }

    fn ratios(&self, level: &str, paths: &[&str], confidence: Confidence) -> Vec<Text> {
        let ratio = |path: &&str| {
            let effect = self.effects.iter().find(|effect| effect.path == **path && effect.level == level);
            effect.map_or(Text::faint("-"), |effect| ratio(effect, confidence))
        };
        let reference = self.levels().first().copied().unwrap_or_default();
        let head = Text::strong(softened(&format!("{level} / {reference}")));
        [head].into_iter().chain(paths.iter().map(ratio)).collect()
    }

    fn result(&self, path: &str, level: &str) -> Option<&'a str> {
        let of_path = self.effects.iter().filter(|effect| effect.path == path);
        of_path.into_iter().find_map(|effect| match level {
            _ if effect.reference == level => Some(effect.reference_result.as_str()),
            _ if effect.level == level => Some(effect.result.as_str()),
            _ => None,
        })
    }
}

fn ratio(effect: &FactorEffect, confidence: Confidence) -> Text {
    let change = &effect.change;
    let times = Text::of(phrases::tone(effect.metric, change), phrases::times(change, confidence));
    match change.verdict {
        Difference::Lower | Difference::Higher => times,
        Difference::None => times.and_faint(", not significant"),
        Difference::Unclear => times.and_doubtful(", unclear"),
    }
}
