//! System calls that were counted: how often, how long, and whether that time was work. Must not know what is too
//! much.

use findings::{CallRates, CellSummary, EndCalls, Findings, Work};
use samples::{CallTimes, SyscallCount};
use units::{Nanos, Share, significant};

use super::Source;
use crate::{
    labels,
    page::{Block, Column, Section, Table, left, right, section},
    phrases,
    text::{Text, Tone, glued},
};

/// So many calls of a cell are shown open, and so many cells; of what probes counted one of each workload.
const OPEN: usize = 8;
const OPEN_PROBED: usize = 5;
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
    let chosen = chosen(&counted);
    if !chosen.is_empty() {
        counted.sort_by_key(|cell| (rank(cell), !chosen.contains(&cell.id.as_str())));
    }
    let most = if chosen.is_empty() { OPEN_CELLS } else { chosen.len().min(OPEN_CELLS) };
    let (open, folded) = counted.split_at(most.min(counted.len()));
    let mut blocks: Vec<Block> = open.iter().flat_map(|cell| of_cell(findings, cell)).collect();
    let timed = counted.iter().any(|cell| is_timed(cell));
    let split = counted.iter().flat_map(|cell| &cell.syscalls).any(is_split);
    blocks.extend(split.then(|| Block::Paragraph(Text::of(Tone::Faint, SHAPE))));
    blocks.extend((timed && !split).then(|| Block::Paragraph(Text::of(Tone::Faint, UNSPLIT))));
    if !folded.is_empty() {
        let said = format!("{most} of {} cells whose calls were counted.", counted.len());
        blocks.push(Block::Paragraph(Text::of(Tone::Faint, said)));
        let more = folded.iter().flat_map(|cell| of_cell(findings, cell)).collect();
        let title = phrases::count(folded.len() as u64, "more cell", "more cells");
        blocks.push(Block::Folded { title: title.into(), blocks: more });
    }
    (!counted.is_empty()).then(|| section("System calls", blocks))
}

/// Of each workload that probes watched the cell whose path has most layers.
fn chosen<'a>(counted: &[&'a CellSummary]) -> Vec<&'a str> {
    let probed = || counted.iter().filter(|cell| cell.probed.is_some());
    let workloads = labels::distinct(probed().map(|cell| cell.workload.as_str()));
    let richest = |workload: &str| {
        let of_workload = probed().filter(|cell| cell.workload == workload);
        of_workload.max_by_key(|cell| cell.layers.len()).map(|cell| cell.id.as_str())
    };
    workloads.into_iter().filter_map(richest).collect()
}

fn is_timed(cell: &CellSummary) -> bool {
    cell.syscalls.iter().any(|call| call.total.is_some())
}

const fn is_split(call: &SyscallCount) -> bool {
    call.running.is_some() || call.waiting.is_some() || call.guest.is_some()
}

fn of_cell(findings: &Findings, cell: &CellSummary) -> Vec<Block> {
    let rates = cell.probed.as_ref().and_then(|probed| probed.calls.as_ref());
    let rate = |index: usize| rates.and_then(|rates| rates.each.get(index).copied());
    let calls: Vec<Call<'_>> = cell
        .syscalls
        .iter()
        .enumerate()
        .map(|(index, count)| Call { count, all: &cell.syscalls, rate: rate(index) })
        .collect();
    let shown = if rates.is_some() { OPEN_PROBED } else { OPEN };
    let (open, folded) = calls.split_at(shown.min(calls.len()));
    let table = |calls: &[Call<'_>]| Block::Table(Layout::of(calls, rates).table(calls));
    let heading = Block::Heading(Text::of(Tone::Strong, labels::cell(findings, cell)));
    let mut blocks = vec![heading, table(open)];
    if !folded.is_empty() {
        let more = phrases::count(folded.len() as u64, "more call", "more calls");
        blocks.push(Block::Paragraph(Text::of(Tone::Faint, format!("and {more}"))));
        blocks.push(Block::Folded { title: more.into(), blocks: vec![table(folded)] });
    }
    blocks.extend(rates.map(|rates| Block::Paragraph(ends(rates))));
    blocks
}

/// `All system calls of the client: 2.01 per message; of the server: 2.00 per message.`
fn ends(rates: &CallRates) -> Text {
    let unit = per(rates.work).replacen('P', "p", 1);
    let of = |end: &EndCalls| {
        let name = end.end.as_deref().map_or_else(|| "others".to_owned(), |end| format!("the {end}"));
        format!("of {name} {} {}", glued(&significant(end.rate, 3)), glued(&unit))
    };
    let said: Vec<String> = rates.ends.iter().map(of).collect();
    Text::of(Tone::Faint, format!("All system calls {}.", said.join(", ")))
}

const fn per(work: Work) -> &'static str {
    match work {
        Work::Bytes => "Per MB",
        Work::Messages => "Per message",
        Work::Connections => "Per connection",
    }
}

/// A kind of call, among all of its cell.
#[derive(Clone, Copy)]
struct Call<'a> {
    count: &'a SyscallCount,
    all: &'a [SyscallCount],
    /// For each megabyte, message or connection.
    rate: Option<f64>,
}

/// A column that is only there where some call knows it.
#[derive(Clone, Copy)]
struct Shown {
    title: &'static str,
    of: fn(Call<'_>) -> Option<String>,
}

/// Where nobody split the time.
const WHOLE: &[Shown] = &[
    Shown { title: "Failed", of: |call| call.count.errors.map(phrases::grouped) },
    Shown { title: "Elapsed", of: |call| time(call.count.total) },
    Shown { title: "Share", of: share },
    Shown { title: "Per call", of: per_call },
];

/// Where a probe did: together they are the whole.
const SPLIT: &[Shown] = &[
    Shown {
        title: "Failed",
        of: |call| call.count.errors.filter(|errors| *errors > 0).map(phrases::grouped),
    },
    Shown { title: "Per call", of: per_call },
    Shown { title: "Running", of: |call| time(call.count.running) },
    Shown { title: "Waiting", of: |call| time(call.count.waiting) },
    Shown { title: "In guest", of: |call| time(call.count.guest.filter(|guest| guest.0 > 0)) },
    Shown { title: "Single calls", of: |call| shape(&call.count.times) },
];

/// The columns of a cell's calls.
struct Layout {
    whose: bool,
    /// Whether one process made all of them, so that its name says nothing.
    alone: bool,
    rate: Option<&'static str>,
    shown: Vec<Shown>,
    /// What stands where a call lacks something that others have.
    unknown: &'static str,
}

impl Layout {
    fn of(calls: &[Call<'_>], rates: Option<&CallRates>) -> Self {
        let is_split = calls.iter().any(|call| is_split(call.count));
        let (columns, unknown) = if is_split { (SPLIT, "-") } else { (WHOLE, "unknown") };
        let process = |call: &Call<'_>| call.count.process.clone();
        let alone = is_split && calls.windows(2).all(|two| process(&two[0]) == process(&two[1]));
        let known = |shown: &&Shown| calls.iter().any(|call| (shown.of)(*call).is_some());
        Self {
            whose: calls.iter().any(|call| !whose(call.count, alone).is_empty()),
            alone,
            rate: rates.map(|rates| per(rates.work)),
            shown: columns.iter().filter(known).copied().collect(),
            unknown,
        }
    }

    fn table(&self, calls: &[Call<'_>]) -> Table {
        let mut columns: Vec<Column> = self.whose.then(|| left("Whose")).into_iter().collect();
        columns.extend([left("Call"), right("Calls")]);
        columns.extend(self.rate.map(right));
        columns.extend(self.shown.iter().map(|shown| right(shown.title)));
        Table { columns, rows: calls.iter().map(|call| self.row(*call)).collect(), caption: None }
    }

    fn row(&self, call: Call<'_>) -> Vec<Text> {
        let unknown = || Text::of(Tone::Faint, self.unknown);
        let mut row: Vec<Text> =
            self.whose.then(|| whose(call.count, self.alone).into()).into_iter().collect();
        row.extend([Text::of(Tone::Strong, &call.count.call), phrases::grouped(call.count.calls).into()]);
        let rate = || call.rate.map_or_else(unknown, |rate| rare(rate).into());
        row.extend(self.rate.map(|_| rate()));
        row.extend(self.shown.iter().map(|shown| (shown.of)(call).map_or_else(unknown, Text::from)));
        row
    }
}

/// `server, qemu-system-x86, CPU 0/KVM`, as far as it is known; without the process where it is the only one.
fn whose(call: &SyscallCount, alone: bool) -> String {
    // Most threads are called as their process is.
    let thread = call.thread.as_ref().filter(|thread| call.process.as_ref() != Some(*thread));
    let process = call.process.as_ref().filter(|_| !alone);
    let known = [call.end.as_ref(), process, thread].into_iter().flatten();
    known.map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// `2.00`, `0.0071`; what is rarer than one in ten thousand is only called so.
fn rare(rate: f64) -> String {
    if rate > 0.0 && rate < 1e-4 { "<0.0001".to_owned() } else { significant(rate, 3) }
}

fn time(time: Option<Nanos>) -> Option<String> {
    time.map(|time| glued(&time.to_string()))
}

/// Of the time of all calls of the cell, as in the verdict.
fn share(call: Call<'_>) -> Option<String> {
    let all =
        call.all.iter().filter_map(|other| other.total).fold(0u64, |sum, time| sum.saturating_add(time.0));
    let total = call.count.total.filter(|_| all > 0)?;
    Some(Share(total.0 as f64 / all as f64).to_string())
}

fn per_call(call: Call<'_>) -> Option<String> {
    let total = call.count.total.filter(|_| call.count.calls > 0)?;
    Some(glued(&Nanos(total.0 / call.count.calls).to_string()))
}

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The first character of a shape holds calls of less than 2^10 ns, and each later one those of up to four times as much.
const FIRST: usize = 10;
const EACH: usize = 2;
/// The last one holds all that took longer.
const CHARACTERS: usize = 9;

const SHAPE: &str = "Single calls: how many took less than 1 µs, 4 µs, 16 µs, 66 µs, 262 µs, 1 ms, 4 ms, 17 ms, or longer; each row against \
                     its most.";

/// `·▂█▃·····`: how long single calls took, on the same scale in every row.
fn shape(times: &CallTimes) -> Option<String> {
    let mut columns = [0u64; CHARACTERS];
    for (place, count) in times.0.iter().enumerate() {
        let column = if place < FIRST { 0 } else { (1 + (place - FIRST) / EACH).min(CHARACTERS - 1) };
        columns[column] = columns[column].saturating_add(*count);
    }
    let most = columns.iter().copied().max().filter(|most| *most > 0)?;
    let levels = LEVELS.len() as u64;
    let level =
        |count: u64| LEVELS[(count.saturating_mul(levels).div_ceil(most).clamp(1, levels) - 1) as usize];
    Some(columns.iter().map(|count| if *count == 0 { '·' } else { level(*count) }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_has_the_same_scale_whatever_it_holds() {
        let drawn = |counts: &[(usize, u64)]| {
            let mut times = vec![0; 40];
            counts.iter().for_each(|(place, count)| times[*place] = *count);
            shape(&CallTimes(times))
        };
        assert_eq!(drawn(&[(3, 10), (9, 10), (11, 80), (12, 1)]).as_deref(), Some("▂█▁······"));
        assert_eq!(drawn(&[(23, 5), (24, 5), (39, 10)]).as_deref(), Some("·······▃█"));
        assert_eq!((drawn(&[]), shape(&CallTimes(Vec::new()))), (None, None));
    }
}
