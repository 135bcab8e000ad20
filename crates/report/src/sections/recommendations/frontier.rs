//! The Pareto front of the metric and CPU time, with CPU time by owner.

use findings::{Answer, ConsumerUnit, FrontierPoint};
use units::Share;

use super::{Source, cpus};
use crate::{labels, page::*, phrases, pictures};

pub(super) fn blocks(source: &Source<'_>, answer: &Answer) -> Vec<Block> {
    if answer.frontier.is_empty() {
        return Vec::new();
    }
    let unit = unit(answer);
    let factors = labels::factors(answer.frontier.iter().map(|point| &point.levels));
    // If there is a single owner, the total is enough.
    let consumers: &[String] = if answer.consumers.len() > 1 { &answer.consumers } else { &[] };
    let table = Table {
        columns: columns(&factors, consumers, unit),
        rows: answer.frontier.iter().map(|point| row(answer, point, &factors, consumers, unit)).collect(),
        caption: Some(Text::faint(caption(answer))),
    };
    let heading =
        Block::Heading("Pareto front: no other setting is better for the same or less CPU time".into());
    let chart = pictures::frontier::chart(source, answer).map(|chart| Block::Chart(Box::new(chart)));
    [heading].into_iter().chain(chart).chain([Block::Table(table)]).collect()
}

pub(super) fn unit(answer: &Answer) -> ConsumerUnit {
    let costs = answer.frontier.iter().flat_map(|point| &point.consumers);
    costs.map(|cost| cost.unit).next().unwrap_or(ConsumerUnit::Cpus)
}

pub(super) fn cpu_time(cpu: f64, unit: ConsumerUnit) -> String {
    match unit {
        ConsumerUnit::Cpus => format!("{} CPUs", cpus(cpu)),
        ConsumerUnit::Share => format!("{} of CPU", Share(cpu)),
    }
}

fn columns(factors: &[&str], consumers: &[String], unit: ConsumerUnit) -> Vec<Column> {
    let more = match unit {
        ConsumerUnit::Cpus => "Gain per CPU",
        ConsumerUnit::Share => "Gain per 1 %",
    };
    let factors = factors.iter().map(|factor| left(*factor));
    let consumers = consumers.iter().map(right);
    factors.chain([right("Value"), right("CPU")]).chain(consumers).chain([right(more)]).collect()
}

fn row(
    answer: &Answer,
    point: &FrontierPoint,
    factors: &[&str],
    consumers: &[String],
    unit: ConsumerUnit,
) -> Vec<Text> {
    let dash = || Text::faint("-");
    let level = |factor: &&str| point.levels.get(*factor).map_or_else(dash, Text::strong);
    let attributed = |consumer: &String| {
        let cost = point.consumers.iter().find(|cost| cost.consumer == *consumer);
        cost.map_or_else(dash, |cost| bare(cost.value, cost.unit).into())
    };
    let step = if unit == ConsumerUnit::Share { 0.01 } else { 1.0 };
    let marginal = point.marginal.map(|marginal| phrases::value(answer.metric, marginal * step));
    let mut row: Vec<Text> = factors.iter().map(level).collect();
    row.extend([phrases::value(answer.metric, point.value).into(), bare(point.cpu, unit).into()]);
    row.extend(consumers.iter().map(attributed));
    row.push(marginal.map_or_else(dash, Text::from));
    row
}

fn bare(cpu: f64, unit: ConsumerUnit) -> String {
    match unit {
        ConsumerUnit::Cpus => cpus(cpu),
        ConsumerUnit::Share => Share(cpu).to_string(),
    }
}

fn caption(answer: &Answer) -> String {
    let consumers = answer.consumers.join(", ");
    format!("CPU time of {consumers}. The last column is relative to the row above.")
}
