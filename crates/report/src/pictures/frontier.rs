//! The metric against CPU time: a dot per setting, and a line through the Pareto front.

use findings::{Answer, CellSummary};

use super::{
    columns::{CELL, number, of_cell},
    sweep,
};
use crate::{
    chart::{Axis, Chart, Data, Drawing, Key, Line, LineKind, Plot, Scale, Spot},
    labels, phrases,
    sections::Source,
};

pub(super) const KIND: &str = "frontier";

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    source.findings.answers.iter().filter_map(|answer| chart(source, answer)).collect()
}

/// `None` without CPU time.
pub(crate) fn chart(source: &Source<'_>, answer: &Answer) -> Option<Chart> {
    if answer.frontier.len() < 2 {
        return None;
    }
    let cells: Vec<(&CellSummary, f64)> = sweep::swept(source.findings, answer)
        .filter_map(|cell| Some((cell, sweep::cpu(answer, cell)?)))
        .collect();
    let is_on = |cell: &CellSummary| answer.frontier.iter().any(|point| point.cell == cell.id);
    let line = |number, kind, points| Line { number, kind, points, intervals: Vec::new() };
    let others = cells.iter().filter(|(cell, _)| !is_on(cell)).map(|(cell, cpu)| (*cpu, cell.value.median));
    let frontier: Vec<(f64, f64)> = answer.frontier.iter().map(|point| (point.cpu, point.value)).collect();
    let cpus = || cells.iter().map(|(_, cpu)| *cpu).chain(frontier.iter().map(|(cpu, _)| *cpu));
    let values =
        || cells.iter().map(|(cell, _)| cell.value.median).chain(frontier.iter().map(|(_, value)| *value));
    let chosen =
        answer.recommendations.iter().find(|it| it.objective == source.objective && it.withheld.is_none());
    let spot = |point: &findings::FrontierPoint| Spot {
        at: (point.cpu, point.value),
        text: labels::levels(&point.levels).unwrap_or_default(),
        is_chosen: chosen.is_some_and(|it| it.cell == point.cell),
    };
    let mut data = Data::new(CELL.into_iter().chain(["cpu_time", "is_on_frontier"]));
    for (cell, cpu) in &cells {
        data.push(of_cell(cell).into_iter().chain([number(Some(*cpu)), Some(is_on(cell).to_string())]));
    }
    let phrase = answer.frontier.iter().map(|point| {
        let levels = labels::levels(&point.levels).unwrap_or_default();
        format!(
            "{levels}: {} for {}",
            phrases::value(answer.metric, point.value),
            units::significant(point.cpu, 3)
        )
    });
    let largest = values().fold(0.0, f64::max);
    let plot = Plot {
        x: sweep::cpu_axis(answer, Scale::from_zero(cpus())),
        y: Axis::of_metric(answer.metric, Scale::from_zero(values()), largest),
        marks: Vec::new(),
        stretches: Vec::new(),
        spots: answer.frontier.iter().map(spot).collect(),
        keys: vec![
            Key::Line(0, "Pareto front: no setting is better for less CPU".to_owned()),
            Key::Line(6, "other settings".to_owned()),
        ],
        lines: vec![line(6, LineKind::Dots, others.collect()), line(0, LineKind::Dotted, frontier.clone())],
    };
    Some(Chart {
        kind: KIND,
        title: format!(
            "{}: {} over CPU time",
            labels::swept(&answer.workload, &answer.path),
            answer.metric.name()
        ),
        about: format!(
            "On the Pareto front, from the cheapest up: {}.",
            phrase.collect::<Vec<_>>().join("; ")
        ),
        drawing: Drawing::Plots(vec![plot]),
        data,
        plain: None,
    })
}
