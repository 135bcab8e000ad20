//! One row for each cell that two runs have, or that one of them alone has. Must not know how runs are compared.

use std::collections::BTreeMap;

use findings::{CellContrast, Comparison, Contrast, Estimate, Verdict};

use super::{basis, ends, line, metric, optional};
use crate::labels;

const COLUMNS: [&str; 29] = [
    "a",
    "b",
    "cell",
    "cell_b",
    "path",
    "workload",
    "metric",
    "unit",
    "verdict",
    "a_median",
    "a_low",
    "a_high",
    "a_confidence",
    "a_trials",
    "b_median",
    "b_low",
    "b_high",
    "b_confidence",
    "b_trials",
    "ratio",
    "ratio_low",
    "ratio_high",
    "ratio_confidence",
    "ratio_basis",
    "difference",
    "noise_floor",
    "p",
    "in",
    "why",
];

pub(crate) fn contrast(contrast: &Contrast) -> String {
    let factors = labels::factors(contrast.cells.iter().map(|cell| &cell.levels));
    let names = factors.iter().map(|factor| format!("factor.{factor}"));
    let head = line(COLUMNS.map(str::to_owned).into_iter().chain(names));
    let both = contrast.cells.iter().map(|cell| row(contrast, cell, &factors));
    let alone = |cells: &[String], run: &'static str| -> Vec<String> {
        cells.iter().map(|cell| alone(contrast, cell, run, factors.len())).collect()
    };
    let rest = alone(&contrast.only_a, "a").into_iter().chain(alone(&contrast.only_b, "b"));
    [head].into_iter().chain(both).chain(rest).collect()
}

fn row(contrast: &Contrast, cell: &CellContrast, factors: &[&str]) -> String {
    let (metric, unit) = metric(cell.metric);
    let mut fields = runs(contrast).to_vec();
    fields.extend([cell.cell.clone(), cell.cell_b.clone().unwrap_or_else(|| cell.cell.clone())]);
    fields.extend([&cell.path, &cell.workload].map(Clone::clone));
    fields.extend([metric, unit, verdict(cell.verdict)].map(str::to_owned));
    fields.extend(estimate(&cell.a));
    fields.extend(estimate(&cell.b));
    fields.extend(ratio(cell.comparison.as_ref()));
    fields.extend([optional(cell.floor), optional(cell.p), "both".to_owned()]);
    fields.push(cell.why.clone().unwrap_or_default());
    debug_assert_eq!(fields.len(), COLUMNS.len());
    fields.extend(levels(&cell.levels, factors));
    line(fields)
}

fn alone(contrast: &Contrast, cell: &str, run: &str, factors: usize) -> String {
    let mut fields = vec![String::new(); COLUMNS.len() + factors];
    let place = |name: &str| COLUMNS.iter().position(|column| *column == name);
    let known = [("cell", cell), ("in", run), ("a", &contrast.a.id.0), ("b", &contrast.b.id.0)];
    for (name, value) in known {
        if let Some(field) = place(name).and_then(|place| fields.get_mut(place)) {
            value.clone_into(field);
        }
    }
    line(fields)
}

fn runs(contrast: &Contrast) -> [String; 2] {
    [&contrast.a, &contrast.b].map(|run| run.id.0.clone())
}

fn estimate(estimate: &Estimate) -> Vec<String> {
    let [low, high, confidence] = ends(estimate.interval);
    vec![estimate.median.to_string(), low, high, confidence, estimate.trials.to_string()]
}

fn ratio(comparison: Option<&Comparison>) -> Vec<String> {
    let [low, high, confidence] = ends(comparison.and_then(|comparison| comparison.ratio_interval));
    vec![
        optional(comparison.map(|comparison| comparison.ratio)),
        low,
        high,
        confidence,
        optional(comparison.map(|comparison| basis(comparison.basis))),
        optional(comparison.map(|comparison| comparison.difference)),
    ]
}

const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Same => "same",
        Verdict::Unknown => "unknown",
    }
}

fn levels(levels: &BTreeMap<String, String>, factors: &[&str]) -> Vec<String> {
    factors.iter().map(|factor| levels.get(*factor).cloned().unwrap_or_default()).collect()
}
