//! Caveats of the comparison.

use findings::{Basis, CellComparison};

use super::Source;
use crate::{
    page::{Block, Section, section},
    phrases,
    text::Text,
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let contrast = source.contrast;
    let marked = contrast.cells.iter().any(within_a_trial);
    let mark = marked.then(phrases::what_the_mark_means);
    let items: Vec<Text> =
        mark.into_iter().chain(contrast.caveats.iter().map(|caveat| caveat.as_str().into())).collect();
    (!items.is_empty()).then(|| section("Limitations", vec![Block::List(items)]))
}

fn within_a_trial(cell: &CellComparison) -> bool {
    let compared = cell.comparison.is_some_and(|comparison| comparison.basis == Basis::Intervals);
    compared || [cell.a.basis, cell.b.basis].contains(&Basis::Intervals)
}
