//! CPUs that each cell kept busy, and what a gigabyte or a message cost. Must not know rates.

use findings::{CellSummary, CpuCost, Findings};

use super::Source;
use crate::{
    labels,
    page::{Block, Section, Table, detail, left, right},
    phrases,
    text::Text,
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let first = findings.cells.iter().find_map(|cell| cell.cpu)?;
    let mut columns = vec![left("Cell")];
    columns.extend(["Busy", "User", "System", "Interrupts", "Stolen", "Client", "Server", "Cost"].map(right));
    let caption = format!(
        "CPUs in use on average, of {}, median of the trials. Busy is the whole machine; client and server \
         are the traffic threads alone, without the kernel work done for them in interrupts.",
        first.cpus
    );
    let rows = findings.cells.iter().filter_map(|cell| row(findings, cell, &cell.cpu?)).collect();
    Some(detail("CPU", vec![Block::Table(Table { columns, rows, caption: Some(caption.into()) })]))
}

fn row(findings: &Findings, cell: &CellSummary, cpu: &CpuCost) -> Option<Vec<Text>> {
    let CpuCost { busy, user, system, interrupts, steal, client, server, .. } = *cpu;
    let cpus =
        [busy, user, system, interrupts, steal, client, server].map(|cpus| format!("{cpus:.2}").into());
    let label = labels::cell(findings, cell).into();
    Some([label].into_iter().chain(cpus).chain([cost(cpu).into()]).collect())
}

fn cost(cpu: &CpuCost) -> String {
    cpu.per_work.map_or_else(|| "-".to_owned(), phrases::per_work)
}
