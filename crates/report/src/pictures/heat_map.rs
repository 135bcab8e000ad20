//! A sweep of two factors: a colour and a number for each pair of settings.

use findings::{Answer, CellSummary};

use super::{
    columns::{CELL, of_cell},
    sweep,
};
use crate::{
    chart::{Chart, Data, Drawing, HeatMap, Tile},
    labels, phrases, quantity,
    sections::Source,
    text::GLUE,
};

pub(super) const KIND: &str = "heat-map";

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    source.findings.answers.iter().filter_map(|answer| chart(source, answer)).collect()
}

/// `None` unless two factors vary.
pub(crate) fn chart(source: &Source<'_>, answer: &Answer) -> Option<Chart> {
    let findings = source.findings;
    let factors = labels::factors(sweep::swept(findings, answer).map(|cell| &cell.levels));
    let levels = |factor: &&str| sweep::levels(findings, answer, factor);
    let mut varied: Vec<(&str, Vec<&str>)> = factors.iter().map(|factor| (*factor, levels(factor))).collect();
    varied.retain(|(_, levels)| levels.len() > 1);
    varied.sort_by_key(|(_, levels)| std::cmp::Reverse(levels.len()));
    let [(across, columns), (up, rows), ..] = varied.as_slice() else { return None };
    let chosen = answer.recommendations.iter().find(|it| it.objective == source.objective);
    let chosen = chosen.filter(|it| it.withheld.is_none()).map(|it| it.cell.as_str());
    let best = best(answer, sweep::swept(findings, answer).collect(), (across, up));
    let largest = best.iter().map(|cell| cell.value.median).fold(0.0, f64::max);
    let unit = quantity::Scale::of(answer.metric, largest);
    let tile = |cell: &&CellSummary| {
        let place = |factor: &str, levels: &[&str]| levels.iter().position(|it| *it == cell.levels[factor]);
        let at = (place(across, columns)?, place(up, rows)?);
        let value = cell.value.median;
        Some(Tile { at, value, text: unit.number(value), is_chosen: chosen == Some(cell.id.as_str()) })
    };
    let rest = if varied.len() > 2 { ", best over the other factors" } else { "" };
    let framed = if chosen.is_some() { "; framed: recommended" } else { "" };
    let title = format!("{}, {}{rest}{framed}", answer.metric.name(), unit.unit);
    let names = |levels: &[&str]| levels.iter().map(ToString::to_string).collect();
    let mut data = Data::new(CELL.into_iter().chain(["across", "up"]));
    for cell in &best {
        data.push(
            of_cell(cell)
                .into_iter()
                .chain([cell.levels.get(*across).cloned(), cell.levels.get(*up).cloned()]),
        );
    }
    let phrase = best.iter().map(|cell| {
        format!(
            "{}: {}",
            labels::cell_in_workload(cell),
            phrases::value(cell.metric, cell.value.median).replace(GLUE, " ")
        )
    });
    Some(Chart {
        kind: KIND,
        title: format!("{}: {across} and {up}", labels::swept(&answer.workload, &answer.path)),
        about: phrase.collect::<Vec<_>>().join("; "),
        drawing: Drawing::HeatMap(HeatMap {
            across: ((*across).to_owned(), names(columns)),
            up: ((*up).to_owned(), names(rows)),
            title,
            tiles: best.iter().filter_map(tile).collect(),
        }),
        data,
        plain: None,
    })
}

/// Best result for each pair of levels.
fn best<'a>(
    answer: &Answer,
    cells: Vec<&'a CellSummary>,
    (across, up): (&str, &str),
) -> Vec<&'a CellSummary> {
    let less = answer.metric.more_is_better() == Some(false);
    let mut best: Vec<&CellSummary> = Vec::new();
    for cell in
        cells.into_iter().filter(|cell| cell.levels.contains_key(across) && cell.levels.contains_key(up))
    {
        let same =
            |other: &&mut &CellSummary| [across, up].iter().all(|it| other.levels[*it] == cell.levels[*it]);
        match best.iter_mut().find(same) {
            Some(known) if (cell.value.median < known.value.median) == less => *known = cell,
            Some(_) => {}
            None => best.push(cell),
        }
    }
    best
}
