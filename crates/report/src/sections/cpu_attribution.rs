//! CPU time of each result by owner, and CPU time without an owner.

use findings::{ConsumerPart, CpuAttribution, ResultSummary};
use samples::{AttributionSource, CpuConsumer};
use units::{Share, significant};
use workload::Work;

use super::Source;
use crate::{labels, page::*, phrases, pictures::cpu, quantity::with_minus};

const ABREAST: usize = 4;
const LEAST_PART: f64 = 0.000_5;

const SAMPLED: &str = "Attributed from /proc, which adds softirq time to the interrupted thread, so an \
                       owner's time may include packet processing for others.";

type CpuRow<'a> = (&'a ResultSummary, &'a CpuAttribution);

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let attributed: Vec<CpuRow<'_>> = findings.results.iter().filter_map(of_result).collect();
    if attributed.is_empty() {
        return None;
    }
    let (mut blocks, mut folded): (Vec<Block>, Vec<Vec<Block>>) = (Vec::new(), Vec::new());
    for workload in labels::workloads(findings) {
        let results: Vec<CpuRow<'_>> =
            attributed.iter().filter(|(result, _)| result.workload == workload).copied().collect();
        blocks.extend(cpu::chart(source, workload).map(|chart| Block::Chart(Box::new(chart))));
        let mut tables = results.chunks(ABREAST).map(|results| side_by_side(workload, results));
        blocks.extend(tables.next().into_iter().flatten());
        folded.extend(tables);
    }
    if !folded.is_empty() {
        let more = phrases::count(folded.len(), "more table");
        blocks.push(Block::Paragraph(Text::faint(format!("and {more}"))));
        blocks.push(Block::Folded { title: more.into(), blocks: folded.into_iter().flatten().collect() });
    }
    blocks.extend(sampled(&attributed).map(|reason| Block::Paragraph(Text::faint(reason))));
    let parts = attributed.iter().flat_map(parts).collect();
    blocks.push(Block::Folded { title: "By process, thread and CPU".into(), blocks: parts });
    Some(section("CPU attribution", blocks))
}

fn sampled(attributed: &[CpuRow<'_>]) -> Option<String> {
    let mut inexact =
        attributed.iter().filter(|(_, cpu)| cpu.source == AttributionSource::Sampled).peekable();
    inexact.peek()?;
    let reason = inexact.find_map(|(_, cpu)| cpu.reason.as_deref());
    Some(
        reason
            .map_or_else(|| SAMPLED.to_owned(), |reason| format!("{SAMPLED} Not traced exactly: {reason}.")),
    )
}

fn of_result(result: &ResultSummary) -> Option<CpuRow<'_>> {
    Some((result, result.probed.as_ref()?.cpu.as_ref()?))
}

fn side_by_side(workload: &str, results: &[CpuRow<'_>]) -> Vec<Block> {
    let work = results.iter().find_map(|(_, cpu)| cpu.work);
    let heading = Text::strong(workload).and_faint(format!(" ({})", unit(work)));
    let mut columns = vec![left("Owner")];
    columns.extend(results.iter().map(|(result, _)| column(result)));
    let consumers = labels::consumers(results.iter().map(|(result, _)| *result));
    let mut rows: Vec<Vec<Text>> =
        consumers.into_iter().map(|consumer| of_owner(consumer, results)).collect();
    rows.push(row("unexplained".into(), results, rest));
    rows.push(row(Text::strong("busy, according to the kernel"), results, |cpu| {
        Text::strong(spent(cpu.busy, cpu.busy_cost))
    }));
    if results.iter().any(|(_, cpu)| cpu.steal > 0.0) {
        let stolen = |cpu: &CpuAttribution| Text::from(format!("{:.3}", cpu.steal));
        rows.push(row("stolen by the hypervisor".into(), results, stolen));
    }
    vec![Block::Heading(heading), Block::Table(Table { columns, rows, caption: None })]
}

fn column(result: &ResultSummary) -> Column {
    let levels = labels::levels(&result.levels).map(|levels| format!(" {levels}")).unwrap_or_default();
    right(format!("{}{}", softened(&result.path), softened(&levels)))
}

fn unit(work: Option<Work>) -> String {
    let cost = work.map(|work| format!(", with CPU-seconds per {} in brackets", work.for_cpu().1));
    format!("CPUs busy on average{}", cost.unwrap_or_default())
}

fn row(head: Text, results: &[CpuRow<'_>], of: impl Fn(&CpuAttribution) -> Text) -> Vec<Text> {
    [head].into_iter().chain(results.iter().map(|(_, cpu)| of(cpu))).collect()
}

fn of_owner(consumer: CpuConsumer, results: &[CpuRow<'_>]) -> Vec<Text> {
    row(labels::consumer(consumer).into(), results, |cpu| {
        let time = cpu.consumers.iter().find(|time| time.consumer == consumer);
        time.map_or_else(|| Text::faint("-"), |time| spent(time.cpus, time.cost).into())
    })
}

fn spent(cpus: f64, cost: Option<f64>) -> String {
    let cost = cost.map(|cost| format!(" ({})", significant(cost, 2))).unwrap_or_default();
    glued(&format!("{cpus:.3}{cost}"))
}

fn rest(cpu: &CpuAttribution) -> Text {
    let phrase = format!("{:.3}, {}", cpu.unexplained, Share(cpu.unexplained_share));
    glued(&with_minus(&phrase)).into()
}

fn parts((result, cpu): &CpuRow<'_>) -> Vec<Block> {
    let columns =
        [left("Owner"), left("Process"), left("Thread"), right("On CPU"), right("CPUs busy")].to_vec();
    let known =
        cpu.consumers.iter().flat_map(|time| time.parts.iter().map(move |part| (time.consumer, part)));
    let rows =
        known.filter(|(_, part)| part.cpus >= LEAST_PART).map(|(consumer, part)| of_part(consumer, part));
    let heading = Block::Heading(Text::strong(&result.label));
    vec![heading, Block::Table(Table { columns, rows: rows.collect(), caption: None })]
}

fn of_part(consumer: CpuConsumer, part: &ConsumerPart) -> Vec<Text> {
    let known = |name: &Option<String>| Text::from(name.clone().unwrap_or_else(|| "-".to_owned()));
    let cpu = part.cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string());
    vec![
        labels::consumer(consumer).into(),
        known(&part.process),
        known(&part.thread),
        cpu.into(),
        format!("{:.3}", part.cpus).into(),
    ]
}
