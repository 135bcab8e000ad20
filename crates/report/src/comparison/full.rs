//! Details of each compared cell: both intervals, noise and probability.

use findings::{CellComparison, RunComparison};
use units::{Share, significant};

use super::Source;
use crate::{
    labels,
    page::{Block, Section, Table, detail, left, right},
    phrases,
    text::Text,
};

const P: &str = "P is the probability of a difference at least this large if both runs were equal, from the ranks \
     of the trials and from their means, including the noise between runs if it is known; adjusted for the number \
     of results (Benjamini and Hochberg). Differences smaller than the noise count as none.";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let contrast = source.contrast;
    let columns = [left("Result"), right("A"), right("B"), right("B − A"), right("Noise"), right("P")];
    let table = Table {
        columns: columns.to_vec(),
        rows: contrast.cells.iter().map(|cell| row(contrast, cell)).collect(),
        caption: Some(P.into()),
    };
    (!contrast.cells.is_empty()).then(|| detail("Details", vec![Block::Table(table)]))
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
