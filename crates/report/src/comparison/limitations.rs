//! Lists the limitations of the comparison.

use findings::{Basis, ResultComparison, RunComparison};

use crate::{page::*, phrases};

pub(super) fn build(comparison: &RunComparison) -> Option<Section> {
    let marked = comparison.results.iter().any(within_a_trial);
    let mark = marked.then(phrases::what_the_mark_means);
    let items: Vec<Text> = mark
        .into_iter()
        .chain(comparison.limitations.iter().map(|limitation| limitation.as_str().into()))
        .collect();
    (!items.is_empty()).then(|| section("Limitations", vec![Block::List(items)]))
}

fn within_a_trial(result: &ResultComparison) -> bool {
    let compared = result.comparison.is_some_and(|comparison| comparison.basis == Basis::Intervals);
    compared || [result.a.basis, result.b.basis].contains(&Basis::Intervals)
}
