//! System calls that were counted: how often, how long, and whether that time was work. Must not know what is too
//! much.

use findings::{CellSummary, Findings};
use samples::SyscallCount;
use units::{Nanos, Share};

use super::Source;
use crate::{
    labels,
    page::{Block, Column, Section, Table, left, right, section},
    phrases,
    text::{Text, Tone},
};

/// So many calls of a cell are shown open, and so many cells.
const OPEN: usize = 8;
const OPEN_CELLS: usize = 4;

/// The claim whose cells stand first.
const CLAIM: &str = "wait-mistaken-for-work";

const UNSPLIT: &str = "How much of the time was running is not known: the tool that counted does not tell. Calls of a kind that \
                       waits or runs a guest are no cost by their total.";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let mut counted: Vec<&CellSummary> =
        findings.cells.iter().filter(|cell| !cell.syscalls.is_empty()).collect();
    let claimed: Vec<&String> =
        findings.claims.iter().filter(|claim| claim.id == CLAIM).flat_map(|claim| &claim.cells).collect();
    // What the verdict speaks of stands first, in its order; then what has times, for counts alone say less.
    let rank = |cell: &CellSummary| claimed.iter().position(|id| **id == cell.id).unwrap_or(claimed.len());
    counted.sort_by_key(|cell| (rank(cell), !is_timed(cell)));
    let (open, folded) = counted.split_at(OPEN_CELLS.min(counted.len()));
    let mut blocks: Vec<Block> = open.iter().flat_map(|cell| of_cell(findings, cell)).collect();
    let timed = counted.iter().any(|cell| is_timed(cell));
    let split = counted.iter().flat_map(|cell| &cell.syscalls).any(is_split);
    blocks.extend((timed && !split).then(|| Block::Paragraph(Text::of(Tone::Faint, UNSPLIT))));
    if !folded.is_empty() {
        let said = format!("The first {OPEN_CELLS} of {} cells whose calls were counted.", counted.len());
        blocks.push(Block::Paragraph(Text::of(Tone::Faint, said)));
        let more = folded.iter().flat_map(|cell| of_cell(findings, cell)).collect();
        let title = phrases::count(folded.len() as u64, "more cell", "more cells");
        blocks.push(Block::Folded { title: title.into(), blocks: more });
    }
    (!counted.is_empty()).then(|| section("System calls", blocks))
}

fn is_timed(cell: &CellSummary) -> bool {
    cell.syscalls.iter().any(|call| call.total.is_some())
}

const fn is_split(call: &SyscallCount) -> bool {
    call.running.is_some() || call.waiting.is_some() || call.guest.is_some()
}

fn of_cell(findings: &Findings, cell: &CellSummary) -> Vec<Block> {
    let shown: Vec<Shown> = SHOWN.iter().filter(|shown| shown.is_known(&cell.syscalls)).copied().collect();
    let (open, folded) = cell.syscalls.split_at(OPEN.min(cell.syscalls.len()));
    let table = |calls: &[SyscallCount]| Block::Table(table(calls, &cell.syscalls, &shown));
    let mut blocks = vec![Block::Heading(Text::of(Tone::Strong, labels::cell(findings, cell))), table(open)];
    if !folded.is_empty() {
        let more = phrases::count(folded.len() as u64, "more call", "more calls");
        blocks.push(Block::Paragraph(Text::of(Tone::Faint, format!("and {more}"))));
        blocks.push(Block::Folded { title: more.into(), blocks: vec![table(folded)] });
    }
    blocks
}

/// A column that is only there where some call knows it.
#[derive(Clone, Copy)]
struct Shown {
    title: &'static str,
    /// Of a call among all of its cell.
    of: fn(&SyscallCount, &[SyscallCount]) -> Option<String>,
}

impl Shown {
    fn is_known(self, calls: &[SyscallCount]) -> bool {
        calls.iter().any(|call| (self.of)(call, calls).is_some())
    }
}

const SHOWN: &[Shown] = &[
    Shown { title: "Failed", of: |call, _| call.errors.map(phrases::grouped) },
    Shown { title: "Elapsed", of: |call, _| time(call.total) },
    Shown { title: "Share", of: share },
    Shown { title: "Per call", of: per_call },
    Shown { title: "Running", of: |call, _| time(call.running) },
    Shown { title: "Waiting", of: |call, _| time(call.waiting) },
    Shown { title: "In guest", of: |call, _| time(call.guest) },
];

fn table(calls: &[SyscallCount], all: &[SyscallCount], shown: &[Shown]) -> Table {
    let whose = all.iter().any(|call| !whose(call).is_empty());
    let mut columns: Vec<Column> = whose.then(|| left("Whose")).into_iter().collect();
    columns.extend([left("Call"), right("Calls")]);
    columns.extend(shown.iter().map(|shown| right(shown.title)));
    let row = |call: &SyscallCount| {
        let mut row: Vec<Text> = whose.then(|| self::whose(call).into()).into_iter().collect();
        row.extend([Text::of(Tone::Strong, &call.call), phrases::grouped(call.calls).into()]);
        let unknown = || Text::of(Tone::Faint, "unknown");
        row.extend(shown.iter().map(|shown| (shown.of)(call, all).map_or_else(unknown, Text::from)));
        row
    };
    Table { columns, rows: calls.iter().map(row).collect(), caption: None }
}

/// `server, qemu-system-x86, CPU 0/KVM`, as far as it is known.
fn whose(call: &SyscallCount) -> String {
    let known = [&call.end, &call.process, &call.thread].into_iter().flatten();
    known.map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn time(time: Option<Nanos>) -> Option<String> {
    time.map(|time| time.to_string())
}

/// Of the time of all calls of the cell, as in the verdict.
fn share(call: &SyscallCount, all: &[SyscallCount]) -> Option<String> {
    let all = all.iter().filter_map(|other| other.total).fold(0u64, |sum, time| sum.saturating_add(time.0));
    let total = call.total.filter(|_| all > 0)?;
    Some(Share(total.0 as f64 / all as f64).to_string())
}

fn per_call(call: &SyscallCount, _all: &[SyscallCount]) -> Option<String> {
    let total = call.total.filter(|_| call.calls > 0)?;
    Some(Nanos(total.0 / call.calls).to_string())
}
