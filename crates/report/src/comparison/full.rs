//! Shows the details of each compared result: both intervals, the noise and the p-value.

use findings::{ResultComparison, RunComparison};
use units::{Share, significant};

use crate::{page::*, phrases};

const P: &str = "P is the probability of a difference at least this large if both runs were equal. It is \
     computed from the ranks and the means of the trials, includes the noise between runs if that is known, and is \
     adjusted for the number of results (Benjamini and Hochberg). Differences smaller than the noise are treated as \
     none.";

pub(super) fn build(comparison: &RunComparison) -> Option<Section> {
    let columns = [left("Result"), right("A"), right("B"), right("B − A"), right("Noise"), right("P")];
    let table = Table {
        columns: columns.to_vec(),
        rows: comparison.results.iter().map(|result| row(comparison, result)).collect(),
        caption: Some(P.into()),
    };
    (!comparison.results.is_empty()).then(|| detail("Details", vec![Block::Table(table)]))
}

fn row(comparison: &RunComparison, result: &ResultComparison) -> Vec<Text> {
    let dash = || "-".to_owned();
    let inline = phrases::Confidence::Inline;
    let difference = result
        .comparison
        .map(|comparison| phrases::difference(result.metric, result.b.estimate, &comparison, inline));
    vec![
        comparison.label(result).into(),
        phrases::estimate(result.metric, &result.a).into(),
        phrases::estimate(result.metric, &result.b).into(),
        difference.unwrap_or_else(dash).into(),
        result.floor.map_or_else(dash, |floor| Share(floor).to_string()).into(),
        result.p.map_or_else(dash, |p| significant(p, 2)).into(),
    ]
}
