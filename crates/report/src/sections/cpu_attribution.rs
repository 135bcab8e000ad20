//! CPU time of each cell by owner, and the unattributed rest.

use findings::{CellSummary, CpuAttribution, Findings, OwnerPart};
use samples::{AttributionSource, CpuOwner};
use units::{Share, significant};
use workload::Work;

use super::Source;
use crate::{
    labels,
    page::{Block, Column, Section, Table, left, right, section},
    phrases,
    pictures::cpu,
    quantity::with_minus,
    text::{Text, Tone, glued, softened},
};

/// Results per table.
const ABREAST: usize = 4;
/// Minimum CPUs for a row of its own.
const LEAST_PART: f64 = 0.000_5;

const SAMPLED: &str = "Attributed from /proc: softirq time counts as time of the interrupted thread, so owners' \
     times include each other's packets.";

type CpuRow<'a> = (&'a CellSummary, &'a CpuAttribution);

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let owned: Vec<CpuRow<'_>> = findings.cells.iter().filter_map(of_cell).collect();
    if owned.is_empty() {
        return None;
    }
    let (mut blocks, mut folded): (Vec<Block>, Vec<Vec<Block>>) = (Vec::new(), Vec::new());
    for workload in labels::workloads(findings) {
        let cells: Vec<CpuRow<'_>> =
            owned.iter().filter(|(cell, _)| cell.workload == workload).copied().collect();
        blocks.extend(cpu::chart(source, workload).map(|chart| Block::Chart(Box::new(chart))));
        let mut tables = cells.chunks(ABREAST).map(|cells| side_by_side(workload, cells));
        blocks.extend(tables.next().into_iter().flatten());
        folded.extend(tables);
    }
    if !folded.is_empty() {
        let more = phrases::count(folded.len() as u64, "more table", "more tables");
        blocks.push(Block::Paragraph(Text::of(Tone::Faint, format!("and {more}"))));
        blocks.push(Block::Folded { title: more.into(), blocks: folded.into_iter().flatten().collect() });
    }
    blocks.extend(sampled(&owned).map(|why| Block::Paragraph(Text::of(Tone::Faint, why))));
    let parts = owned.iter().flat_map(|owned| parts(findings, owned)).collect();
    blocks.push(Block::Folded { title: "By process, thread and CPU".into(), blocks: parts });
    Some(section("CPU attribution", blocks))
}

/// Note if CPU time was only sampled, with the reason.
fn sampled(owned: &[CpuRow<'_>]) -> Option<String> {
    let mut inexact = owned.iter().filter(|(_, cpu)| cpu.source == AttributionSource::Sampled).peekable();
    inexact.peek()?;
    let because = inexact.find_map(|(_, cpu)| cpu.because.as_deref());
    Some(
        because.map_or_else(
            || SAMPLED.to_owned(),
            |because| format!("{SAMPLED} Not traced exactly: {because}."),
        ),
    )
}

fn of_cell(cell: &CellSummary) -> Option<CpuRow<'_>> {
    Some((cell, cell.probed.as_ref()?.cpu.as_ref()?))
}

fn side_by_side(workload: &str, cells: &[CpuRow<'_>]) -> Vec<Block> {
    let work = cells.iter().find_map(|(_, cpu)| cpu.work);
    let heading = Text::of(Tone::Strong, workload).and(Tone::Faint, format!(" ({})", unit(work)));
    let mut columns = vec![left("Owner")];
    columns.extend(cells.iter().map(|(cell, _)| column(cell)));
    let owners = labels::owners(cells.iter().map(|(cell, _)| *cell));
    let mut rows: Vec<Vec<Text>> = owners.into_iter().map(|owner| of_owner(owner, cells)).collect();
    rows.push(row("unexplained".into(), cells, rest));
    rows.push(row(Text::of(Tone::Strong, "busy, according to the kernel"), cells, |cpu| {
        Text::of(Tone::Strong, spent(cpu.busy, cpu.busy_cost))
    }));
    if cells.iter().any(|(_, cpu)| cpu.steal > 0.0) {
        let stolen = |cpu: &CpuAttribution| Text::from(format!("{:.3}", cpu.steal));
        rows.push(row("stolen by the hypervisor".into(), cells, stolen));
    }
    vec![Block::Heading(heading), Block::Table(Table { columns, rows, caption: None })]
}

fn column(cell: &CellSummary) -> Column {
    let levels = labels::levels(&cell.levels).map(|levels| format!(" {levels}")).unwrap_or_default();
    right(format!("{}{}", softened(&cell.path), softened(&levels)))
}

fn unit(work: Option<Work>) -> String {
    let cost = work.map(|work| format!(", with CPU-seconds per {} in brackets", work.for_cpu().1));
    format!("CPUs busy on average{}", cost.unwrap_or_default())
}

fn row(head: Text, cells: &[CpuRow<'_>], of: impl Fn(&CpuAttribution) -> Text) -> Vec<Text> {
    [head].into_iter().chain(cells.iter().map(|(_, cpu)| of(cpu))).collect()
}

fn of_owner(owner: CpuOwner, cells: &[CpuRow<'_>]) -> Vec<Text> {
    row(labels::owner(owner).into(), cells, |cpu| {
        let time = cpu.owners.iter().find(|time| time.owner == owner);
        time.map_or_else(|| Text::of(Tone::Faint, "-"), |time| spent(time.cpus, time.cost).into())
    })
}

/// `0.710 (0.21)`.
fn spent(cpus: f64, cost: Option<f64>) -> String {
    let cost = cost.map(|cost| format!(" ({})", significant(cost, 2))).unwrap_or_default();
    glued(&format!("{cpus:.3}{cost}"))
}

fn rest(cpu: &CpuAttribution) -> Text {
    let phrase = format!("{:.3}, {}", cpu.unexplained, Share(cpu.unexplained_share));
    glued(&with_minus(&phrase)).into()
}

fn parts(findings: &Findings, (cell, cpu): &CpuRow<'_>) -> Vec<Block> {
    let columns =
        [left("Owner"), left("Process"), left("Thread"), right("On CPU"), right("CPUs busy")].to_vec();
    let known = cpu.owners.iter().flat_map(|time| time.parts.iter().map(move |part| (time.owner, part)));
    let rows = known.filter(|(_, part)| part.cpus >= LEAST_PART).map(|(owner, part)| of_part(owner, part));
    let heading = Block::Heading(Text::of(Tone::Strong, labels::cell(findings, cell)));
    vec![heading, Block::Table(Table { columns, rows: rows.collect(), caption: None })]
}

fn of_part(owner: CpuOwner, part: &OwnerPart) -> Vec<Text> {
    let known = |name: &Option<String>| Text::from(name.clone().unwrap_or_else(|| "-".to_owned()));
    let cpu = part.cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string());
    vec![
        labels::owner(owner).into(),
        known(&part.process),
        known(&part.thread),
        cpu.into(),
        format!("{:.3}", part.cpus).into(),
    ]
}
