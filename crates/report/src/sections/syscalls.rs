//! System calls: count, duration, and the split into work and waiting.

mod layout;
mod shape;
mod totals;

use findings::{CallRates, CellSummary, EndCalls};
use samples::SyscallCount;
use units::significant;

use self::{
    layout::{Call, CallColumns, Layout, is_split},
    shape::SHAPE,
};
use super::Source;
use crate::{
    labels,
    page::{Block, Section, section},
    phrases, pictures,
    text::{Text, Tone, glued},
};

/// Maximum number of unfolded calls per result, or per process for probe data.
const OPEN: usize = 8;
const OPEN_OF_PROCESS: usize = 5;
const OPEN_CELLS: usize = 4;

/// Results of this finding come first.
const CLAIM: &str = "wait-mistaken-for-work";

const UNSPLIT: &str = "The running time is unknown because the tool did not record it. The total time of calls that \
     wait or run a guest is not their cost.";
const COMPOSED: &str = "Share: of all calls of that end. Running, waiting, in guest: average times per call.";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let mut counted: Vec<&CellSummary> =
        findings.cells.iter().filter(|cell| !cell.syscalls.is_empty()).collect();
    let claimed: Vec<&String> =
        findings.claims.iter().filter(|claim| claim.id == CLAIM).flat_map(|claim| &claim.cells).collect();
    // Results in findings first, then those with times.
    let rank = |cell: &CellSummary| claimed.iter().position(|id| **id == cell.id).unwrap_or(claimed.len());
    counted.sort_by_key(|cell| (rank(cell), !is_timed(cell)));
    let chosen = chosen(&counted);
    if !chosen.is_empty() {
        counted.sort_by_key(|cell| (rank(cell), !chosen.contains(&cell.id.as_str())));
    }
    let most = if chosen.is_empty() { OPEN_CELLS } else { chosen.len().min(OPEN_CELLS) };
    let (open, folded) = counted.split_at(most.min(counted.len()));
    let mut blocks = totals::tables(findings);
    blocks.extend(open.iter().flat_map(|cell| of_cell(source, cell)));
    let timed = counted.iter().any(|cell| is_timed(cell));
    let split = counted.iter().flat_map(|cell| &cell.syscalls).any(is_split);
    let composed = open.iter().any(|cell| rates(cell).is_some());
    blocks.extend(composed.then(|| Block::Paragraph(Text::of(Tone::Faint, COMPOSED))));
    blocks.extend((timed && !split).then(|| Block::Paragraph(Text::of(Tone::Faint, UNSPLIT))));
    if !folded.is_empty() {
        let phrase = format!("{most} of {} results with system-call counts.", counted.len());
        blocks.push(Block::Paragraph(Text::of(Tone::Faint, phrase)));
        let more = folded.iter().flat_map(|cell| of_cell(source, cell)).collect();
        let title = phrases::count(folded.len() as u64, "more result", "more results");
        blocks.push(Block::Folded { title: title.into(), blocks: more });
    }
    (!counted.is_empty()).then(|| section("System calls", blocks))
}

/// Every call that a probe timed, by the time that it ran.
pub(super) fn build_times(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let of_cell = |cell: &CellSummary| {
        let rates = rates(cell)?;
        let calls = calls(cell, Some(rates));
        let table = Layout::of(&calls, Some(rates), CallColumns::Times).table(&calls);
        Some(Block::Folded { title: labels::cell(findings, cell).into(), blocks: vec![Block::Table(table)] })
    };
    let mut blocks: Vec<Block> = findings.cells.iter().filter_map(of_cell).collect();
    if blocks.is_empty() {
        return None;
    }
    blocks.push(Block::Paragraph(
        Text::from("Share: of the time of all calls of that end. ").and(Tone::Plain, SHAPE),
    ));
    Some(section("Time in system calls", blocks))
}

/// Calls per unit of work; `None` without probe data.
fn rates(cell: &CellSummary) -> Option<&CallRates> {
    cell.probed.as_ref()?.calls.as_ref()
}

/// E.g. `per message`.
pub(super) fn unit(cell: &CellSummary) -> Option<String> {
    rates(cell).map(|rates| totals::unit(rates.work))
}

/// All calls of a cell for each message, megabyte or connection.
pub(super) fn all(cell: &CellSummary) -> Option<String> {
    rates(cell).map(|rates| layout::rare(rates.all))
}

/// For each probed workload, the result with the most layers, then the most calls.
fn chosen<'a>(counted: &[&'a CellSummary]) -> Vec<&'a str> {
    let probed = || counted.iter().filter(|cell| cell.probed.is_some());
    let workloads = labels::distinct(probed().map(|cell| cell.workload.as_str()));
    let calls = |cell: &CellSummary| rates(cell).map_or(0.0, |rates| rates.all);
    let richest = |workload: &str| {
        let of_workload = probed().filter(|cell| cell.workload == workload);
        let richest = of_workload.max_by(|one, other| {
            one.layers.len().cmp(&other.layers.len()).then(calls(one).total_cmp(&calls(other)))
        });
        richest.map(|cell| cell.id.as_str())
    };
    workloads.into_iter().filter_map(richest).collect()
}

fn is_timed(cell: &CellSummary) -> bool {
    cell.syscalls.iter().any(|call| call.total.is_some())
}

fn of_cell(source: &Source<'_>, cell: &CellSummary) -> Vec<Block> {
    let rates = rates(cell);
    let (open, folded) = match rates {
        Some(rates) => most_of_each_process(cell, rates),
        None => first(calls(cell, None)),
    };
    let layout = Layout::of(&open, rates, CallColumns::Composition);
    let heading = Block::Heading(Text::of(Tone::Strong, labels::cell(source.findings, cell)));
    let chart = pictures::syscalls::chart(source, cell).map(|chart| Block::Chart(Box::new(chart)));
    let table = Block::Table(layout.table(&open));
    let mut blocks: Vec<Block> = [heading].into_iter().chain(chart).chain([table]).collect();
    if !folded.is_empty() {
        let more = phrases::count(folded.len() as u64, "more call", "more calls");
        blocks.push(Block::Paragraph(Text::of(Tone::Faint, format!("and {more}"))));
        // Probe data appears in full in the section on times.
        let rest = || Block::Table(Layout::of(&folded, rates, CallColumns::Composition).table(&folded));
        blocks.extend(rates.is_none().then(|| Block::Folded { title: more.into(), blocks: vec![rest()] }));
    }
    blocks.extend(rates.map(|rates| Block::Paragraph(ends(rates))));
    blocks
}

/// Every kind of call of a cell.
fn calls<'a>(cell: &'a CellSummary, rates: Option<&CallRates>) -> Vec<Call<'a>> {
    let rate = |index: usize| rates.and_then(|rates| rates.each.get(index).copied());
    let call = |(index, count): (usize, &'a SyscallCount)| Call {
        count,
        all: &cell.syscalls,
        rate: rate(index),
        share: None,
        threads: 1,
    };
    cell.syscalls.iter().enumerate().map(call).collect()
}

/// Unfolded and folded calls.
type Partition<'a> = (Vec<Call<'a>>, Vec<Call<'a>>);

fn first(mut calls: Vec<Call<'_>>) -> Partition<'_> {
    let rest = calls.split_off(OPEN.min(calls.len()));
    (calls, rest)
}

/// The most frequent calls of each process.
fn most_of_each_process<'a>(cell: &'a CellSummary, rates: &'a CallRates) -> Partition<'a> {
    let (mut open, mut rest): Partition<'_> = (Vec::new(), Vec::new());
    for process in &rates.processes {
        let count = &process.count;
        let same =
            |other: &&Call<'_>| (&other.count.end, &other.count.process) == (&count.end, &count.process);
        let call = Call {
            count,
            all: &cell.syscalls,
            rate: Some(process.rate),
            share: Some(process.share),
            threads: process.threads,
        };
        let shown = open.iter().filter(same).count();
        if shown < OPEN_OF_PROCESS { open.push(call) } else { rest.push(call) }
    }
    (open, rest)
}

/// `All system calls of the client (plumb-agent) 2.01 per message, of the server (plumb-agent) 2.00 per message.`
fn ends(rates: &CallRates) -> Text {
    let of = |end: &EndCalls| {
        let name = end.end.as_deref().map_or_else(|| "others".to_owned(), |end| format!("the {end}"));
        let process = end.process.as_ref().map(|process| format!(" ({process})")).unwrap_or_default();
        format!(
            "of {name}{process} {} {}",
            glued(&significant(end.rate, 3)),
            glued(&totals::unit(rates.work))
        )
    };
    let phrase: Vec<String> = rates.ends.iter().map(of).collect();
    Text::of(Tone::Faint, format!("All system calls {}.", phrase.join(", ")))
}
