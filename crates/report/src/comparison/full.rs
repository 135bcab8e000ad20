//! The same cells with all that is known of each: both intervals, the noise, the probability. Must not know verdicts.

use findings::{CellComparison, RunComparison};
use units::{Share, significant};

use super::Source;
use crate::{
    labels,
    page::{Block, Section, Table, detail, left, right},
    phrases,
    text::Text,
};

const P: &str = "P is the probability of a difference at least as large if both runs were the same, by the ranks of the trials and by \
                 their means, and beside the noise between runs where that was learned; adjusted for the number of cells \
                 (Benjamini and Hochberg). Differences smaller than the noise are called none.";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let contrast = source.contrast;
    let columns = [left("Cell"), right("A"), right("B"), right("B less A"), right("Noise"), right("P")];
    let table = Table {
        columns: columns.to_vec(),
        rows: contrast.cells.iter().map(|cell| row(contrast, cell)).collect(),
        caption: Some(P.into()),
    };
    (!contrast.cells.is_empty()).then(|| detail("In full", vec![Block::Table(table)]))
}

fn row(contrast: &RunComparison, cell: &CellComparison) -> Vec<Text> {
    let dash = || "-".to_owned();
    let inline = phrases::Confidence::Inline;
    let difference = cell.comparison.map(|comparison| phrases::difference(cell.metric, &comparison, inline));
    vec![
        labels::contrast(contrast, cell).into(),
        phrases::estimate(cell.metric, &cell.a).into(),
        phrases::estimate(cell.metric, &cell.b).into(),
        difference.unwrap_or_else(dash).into(),
        cell.floor.map_or_else(dash, |floor| Share(floor).to_string()).into(),
        cell.p.map_or_else(dash, |p| significant(p, 2)).into(),
    ]
}
