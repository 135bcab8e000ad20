//! Number and duration of a trace's system calls, split into work and waiting.

use std::collections::BTreeSet;

use findings::TracedCall;
use samples::ProbeKind;
use units::Share;

use super::{Source, words};
use crate::{page::*, phrases};

#[derive(Clone, Copy)]
pub(super) struct OptionalColumn {
    pub(super) title: &'static str,
    pub(super) of: fn(&TracedCall) -> Option<String>,
}

const PROCESS: OptionalColumn = OptionalColumn { title: "Process", of: |row| row.count.process.clone() };
const THREAD: OptionalColumn = OptionalColumn { title: "Thread", of: |row| row.count.thread.clone() };
const NUMBERED_THREAD: OptionalColumn = OptionalColumn { title: "Thread", of: thread };

pub(super) const RATE: &str = "Calls/s";

const NUMBERS: &[OptionalColumn] = &[
    OptionalColumn { title: "Share", of: |row| row.share.map(|share| Share(share).to_string()) },
    OptionalColumn { title: "Calls", of: |row| Some(phrases::grouped(row.count.calls)) },
    OptionalColumn { title: RATE, of: |row| Some(words::per_second(row.rate)) },
    OptionalColumn { title: "Per\u{a0}call", of: |row| row.per_call.map(|time| time.to_string()) },
    OptionalColumn { title: "Running", of: |row| row.count.running.map(|time| time.to_string()) },
    OptionalColumn { title: "Waiting", of: |row| row.count.waiting.map(|time| time.to_string()) },
    OptionalColumn {
        title: "In\u{a0}guest",
        of: |row| row.count.guest.filter(|time| time.0 > 0).map(|time| time.to_string()),
    },
    OptionalColumn {
        title: "Bytes",
        of: |row| row.count.bytes.filter(|bytes| bytes.0 > 0).map(|bytes| bytes.to_string()),
    },
];

const TAILS: &[OptionalColumn] = &[
    OptionalColumn { title: "99\u{a0}%\u{a0}<", of: |row| row.p99_below.map(|time| time.to_string()) },
    OptionalColumn {
        title: "Failed",
        of: |row| row.count.errors.filter(|errors| *errors > 0).map(phrases::grouped),
    },
];

const NONE: &str =
    "No call started and ended during the trace; a call that lasts the whole time is not counted.";

const CAPTION: &str = "Share of the time of all threads in system calls.";
const SPLIT: &str = " Running: on a CPU. Waiting: sleeping or queued for a CPU.";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let trace = source.trace;
    if trace.calls.is_empty() {
        let watched = !trace.missing.iter().any(|missing| missing.probe == ProbeKind::Syscalls);
        return watched.then(|| section("System calls", vec![Block::Paragraph(NONE.into())]));
    }
    let mut columns = Columns::of(&trace.calls, NUMBERS);
    columns.numbers.retain(|shown| shown.title != RATE || !source.is_short());
    let (open, folded) = trace.calls.split_at(source.top.min(trace.calls.len()));
    let mut table = columns.table(open);
    if let Some(all) = trace.all.as_ref().filter(|_| trace.calls.len() > 1) {
        table.rows.push(columns.total(all));
    }
    let is_split = columns.numbers.iter().any(|shown| shown.title == "Running");
    let caption = if is_split { [CAPTION, SPLIT].concat() } else { CAPTION.to_owned() };
    table.caption = Some(Text::faint(caption));
    let mut blocks = vec![Block::Table(table)];
    if !folded.is_empty() {
        let more = phrases::count(folded.len(), "more row");
        blocks.push(Block::Paragraph(Text::faint(and_more(&more, trace.calls.len()))));
        let blocks_of_more = vec![Block::Table(columns.table(folded))];
        blocks.push(Block::Folded { title: more.into(), blocks: blocks_of_more });
    }
    Some(section("System calls", blocks))
}

pub(super) fn and_more(more: &str, all: usize) -> String {
    format!("and {more} (--top {all} shows all)")
}

pub(super) fn tails(source: &Source<'_>) -> Option<Section> {
    let columns = Columns::of(&source.trace.calls, TAILS);
    let caption = "99 % of calls took less than the time shown, which is a power of two.";
    let mut table = columns.table(&source.trace.calls);
    table.caption = Some(Text::faint(caption));
    (!columns.numbers.is_empty()).then(|| detail("Slow or failing system calls", vec![Block::Table(table)]))
}

struct Columns {
    whose: Vec<OptionalColumn>,
    numbers: Vec<OptionalColumn>,
}

impl Columns {
    fn of(calls: &[TracedCall], numbers: &[OptionalColumn]) -> Self {
        let thread = if has_namesakes(calls) { NUMBERED_THREAD } else { THREAD };
        let mut whose = present(&[PROCESS, thread], calls);
        // Drop columns that have the same value in every row.
        whose.retain(|shown| calls.iter().any(|call| (shown.of)(call) != (shown.of)(&calls[0])));
        Self { whose, numbers: present(numbers, calls) }
    }

    fn table(&self, calls: &[TracedCall]) -> Table {
        let whose = self.whose.iter().map(|shown| left(shown.title));
        let numbers = self.numbers.iter().map(|shown| right(shown.title));
        let columns = whose.chain([left("Call")]).chain(numbers).collect();
        Table { columns, rows: calls.iter().map(|call| self.row(call)).collect(), caption: None }
    }

    fn row(&self, call: &TracedCall) -> Vec<Text> {
        let whose = self.whose.iter().map(|shown| result(*shown, call));
        let name = Text::strong(&call.count.call);
        whose.chain([name]).chain(self.numbers.iter().map(|shown| result(*shown, call))).collect()
    }

    fn total(&self, all: &TracedCall) -> Vec<Text> {
        let whose = self.whose.iter().map(|_| Text::default());
        let name = Text::faint("all");
        whose.chain([name]).chain(self.numbers.iter().map(|shown| result(*shown, all))).collect()
    }
}

fn has_namesakes(calls: &[TracedCall]) -> bool {
    let named = calls.iter().map(|call| (&call.count.process, &call.count.thread, call.count.tid));
    let threads: BTreeSet<_> = named.collect();
    let names: BTreeSet<_> = threads.iter().map(|(process, thread, _)| (process, thread)).collect();
    names.len() < threads.len()
}

pub(super) fn present(columns: &[OptionalColumn], rows: &[TracedCall]) -> Vec<OptionalColumn> {
    columns.iter().filter(|shown| rows.iter().any(|row| (shown.of)(row).is_some())).copied().collect()
}

pub(super) fn result(shown: OptionalColumn, row: &TracedCall) -> Text {
    (shown.of)(row).map_or_else(|| Text::faint("-"), |phrase| glued(&phrase).into())
}

pub(super) fn thread(row: &TracedCall) -> Option<String> {
    let name = row.count.thread.as_ref()?;
    Some(row.count.tid.map_or_else(|| name.clone(), |tid| format!("{name} ({tid})")))
}
