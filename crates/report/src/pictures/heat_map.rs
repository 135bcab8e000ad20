//! Shows a sweep of two factors. Each pair of levels has a colour and a number.

use findings::{Answer, ResultSummary};

use super::{
    columns::{CELL, of_result},
    sweep,
};
use crate::{
    chart::{HeatMap, Tile, *},
    labels, phrases, quantity,
    sections::Source,
    text::GLUE,
};

pub(super) const KIND: &str = "heat-map";

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    source.findings.answers.iter().filter_map(|answer| chart(source, answer)).collect()
}

pub(crate) fn chart(source: &Source<'_>, answer: &Answer) -> Option<Chart> {
    let findings = source.findings;
    let factors = labels::factors(sweep::swept(findings, answer).map(|result| &result.levels));
    let levels = |factor: &&str| sweep::levels(findings, answer, factor);
    let mut varied: Vec<(&str, Vec<&str>)> = factors.iter().map(|factor| (*factor, levels(factor))).collect();
    varied.retain(|(_, levels)| levels.len() > 1);
    varied.sort_by_key(|(_, levels)| std::cmp::Reverse(levels.len()));
    let [(across, columns), (up, rows), ..] = varied.as_slice() else { return None };
    let chosen = answer.recommendations.iter().find(|it| it.objective == source.objective);
    let chosen = chosen.filter(|it| it.withheld.is_none()).map(|it| it.result.as_str());
    let best = best(answer, sweep::swept(findings, answer).collect(), (across, up));
    let largest = best.iter().map(|result| result.value.estimate).fold(0.0, f64::max);
    let unit = quantity::Scale::of(answer.metric, largest);
    let tile = |result: &&ResultSummary| {
        let place = |factor: &str, levels: &[&str]| levels.iter().position(|it| *it == result.levels[factor]);
        let at = (place(across, columns)?, place(up, rows)?);
        let value = result.value.estimate;
        Some(Tile { at, value, text: unit.number(value), is_chosen: chosen == Some(result.id.as_str()) })
    };
    let rest = if varied.len() > 2 { ", best over the other factors" } else { "" };
    let framed = if chosen.is_some() { "; framed: recommended" } else { "" };
    let title = format!("{}, {}{rest}{framed}", answer.metric.name(), unit.unit);
    let names = |levels: &[&str]| levels.iter().map(ToString::to_string).collect();
    let mut data = Data::new(CELL.into_iter().chain(["across", "up"]));
    for result in &best {
        data.push(
            of_result(result)
                .into_iter()
                .chain([result.levels.get(*across).cloned(), result.levels.get(*up).cloned()]),
        );
    }
    let phrase = best.iter().map(|result| {
        format!(
            "{}: {}",
            labels::result_in_workload(result),
            phrases::value(result.metric, result.value.estimate).replace(GLUE, " ")
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

fn best<'a>(
    answer: &Answer,
    results: Vec<&'a ResultSummary>,
    (across, up): (&str, &str),
) -> Vec<&'a ResultSummary> {
    let less = answer.metric.more_is_better() == Some(false);
    let mut best: Vec<&ResultSummary> = Vec::new();
    for result in results
        .into_iter()
        .filter(|result| result.levels.contains_key(across) && result.levels.contains_key(up))
    {
        let same = |other: &&mut &ResultSummary| {
            [across, up].iter().all(|it| other.levels[*it] == result.levels[*it])
        };
        match best.iter_mut().find(same) {
            Some(known) if (result.value.estimate < known.value.estimate) == less => *known = result,
            Some(_) => {}
            None => best.push(result),
        }
    }
    best
}
