//! Plots the metric against CPU time, with one dot per setting and a line along the Pareto front.

use findings::{Answer, ResultSummary};

use super::{
    columns::{CELL, number, of_result},
    sweep,
};
use crate::{
    chart::{Spot, *},
    labels, phrases,
    sections::Source,
};

pub(super) const KIND: &str = "frontier";

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    source.findings.answers.iter().filter_map(|answer| chart(source, answer)).collect()
}

pub(crate) fn chart(source: &Source<'_>, answer: &Answer) -> Option<Chart> {
    if answer.frontier.len() < 2 {
        return None;
    }
    let results: Vec<(&ResultSummary, f64)> = sweep::swept(source.findings, answer)
        .filter_map(|result| Some((result, sweep::cpu(answer, result)?)))
        .collect();
    let is_on = |result: &ResultSummary| answer.frontier.iter().any(|point| point.result == result.id);
    let line = |number, kind, points| Line { number, kind, points, intervals: Vec::new() };
    let others = results
        .iter()
        .filter(|(result, _)| !is_on(result))
        .map(|(result, cpu)| (*cpu, result.value.estimate));
    let frontier: Vec<(f64, f64)> = answer.frontier.iter().map(|point| (point.cpu, point.value)).collect();
    let cpus = || results.iter().map(|(_, cpu)| *cpu).chain(frontier.iter().map(|(cpu, _)| *cpu));
    let values = || {
        results
            .iter()
            .map(|(result, _)| result.value.estimate)
            .chain(frontier.iter().map(|(_, value)| *value))
    };
    let chosen =
        answer.recommendations.iter().find(|it| it.objective == source.objective && it.withheld.is_none());
    let spot = |point: &findings::FrontierPoint| Spot {
        at: (point.cpu, point.value),
        text: labels::levels(&point.levels).unwrap_or_default(),
        is_chosen: chosen.is_some_and(|it| it.result == point.result),
    };
    let mut data = Data::new(CELL.into_iter().chain(["cpu_time", "is_on_frontier"]));
    for (result, cpu) in &results {
        data.push(of_result(result).into_iter().chain([number(Some(*cpu)), Some(is_on(result).to_string())]));
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
        // Leave room for the label of the best point.
        y: Axis::of_metric(answer.metric, Scale::from_zero([largest * 1.1]), largest),
        marks: Vec::new(),
        stretches: Vec::new(),
        spots: answer.frontier.iter().rev().map(spot).collect(),
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
