//! Settings that no other one beats in both the metric and CPU time, with CPU time by owner.

use findings::{Answer, FrontierPoint, OwnerUnit};
use units::Share;

use super::{Source, cpus};
use crate::{
    labels,
    page::{Block, Column, Table, left, right},
    phrases, pictures,
    text::{Text, Tone},
};

pub(super) fn blocks(source: &Source<'_>, answer: &Answer) -> Vec<Block> {
    if answer.frontier.is_empty() {
        return Vec::new();
    }
    let unit = unit(answer);
    let factors = labels::factors(answer.frontier.iter().map(|point| &point.levels));
    // With a single owner, the total is enough.
    let owners: &[String] = if answer.owners.len() > 1 { &answer.owners } else { &[] };
    let table = Table {
        columns: columns(&factors, owners, unit),
        rows: answer.frontier.iter().map(|point| row(answer, point, &factors, owners, unit)).collect(),
        caption: Some(Text::of(Tone::Faint, caption(answer))),
    };
    let heading =
        Block::Heading("Pareto front: no other setting is better for the same or less CPU time".into());
    let chart = pictures::frontier::chart(source, answer).map(|chart| Block::Chart(Box::new(chart)));
    [heading].into_iter().chain(chart).chain([Block::Table(table)]).collect()
}

/// Unit of CPU time.
pub(super) fn unit(answer: &Answer) -> OwnerUnit {
    let costs = answer.frontier.iter().flat_map(|point| &point.owners);
    costs.map(|cost| cost.unit).next().unwrap_or(OwnerUnit::Cpus)
}

/// `3.21 CPUs`, `54.0 % of its owners' CPUs`.
pub(super) fn cpu_time(cpu: f64, unit: OwnerUnit) -> String {
    match unit {
        OwnerUnit::Cpus => format!("{} CPUs", cpus(cpu)),
        OwnerUnit::Share => format!("{} of CPU", Share(cpu)),
    }
}

fn columns(factors: &[&str], owners: &[String], unit: OwnerUnit) -> Vec<Column> {
    let more = match unit {
        OwnerUnit::Cpus => "Gain per CPU",
        OwnerUnit::Share => "Gain per 1 %",
    };
    let factors = factors.iter().map(|factor| left(*factor));
    let owners = owners.iter().map(right);
    factors.chain([right("Median"), right("CPU")]).chain(owners).chain([right(more)]).collect()
}

fn row(
    answer: &Answer,
    point: &FrontierPoint,
    factors: &[&str],
    owners: &[String],
    unit: OwnerUnit,
) -> Vec<Text> {
    let dash = || Text::of(Tone::Faint, "-");
    let level =
        |factor: &&str| point.levels.get(*factor).map_or_else(dash, |level| Text::of(Tone::Strong, level));
    let owned = |owner: &String| {
        let cost = point.owners.iter().find(|cost| cost.owner == *owner);
        cost.map_or_else(dash, |cost| bare(cost.value, cost.unit).into())
    };
    // Gains are shown per 1 % for shares.
    let step = if unit == OwnerUnit::Share { 0.01 } else { 1.0 };
    let marginal = point.marginal.map(|marginal| phrases::value(answer.metric, marginal * step));
    let mut row: Vec<Text> = factors.iter().map(level).collect();
    row.extend([phrases::value(answer.metric, point.value).into(), bare(point.cpu, unit).into()]);
    row.extend(owners.iter().map(owned));
    row.push(marginal.map_or_else(dash, Text::from));
    row
}

fn bare(cpu: f64, unit: OwnerUnit) -> String {
    match unit {
        OwnerUnit::Cpus => cpus(cpu),
        OwnerUnit::Share => Share(cpu).to_string(),
    }
}

fn caption(answer: &Answer) -> String {
    let owners = answer.owners.join(", ");
    format!("CPU time of {owners}. The last column is relative to the row above.")
}
