//! A trace's threads and their system calls.

use findings::TracedCall;

use super::{
    Source,
    calls::{OptionalColumn, RATE, and_more, present, result, thread},
    words,
};
use crate::{page::*, phrases};

const COLUMNS: &[OptionalColumn] = &[
    OptionalColumn { title: "Calls", of: |row| Some(phrases::grouped(row.count.calls)) },
    OptionalColumn { title: RATE, of: |row| Some(words::per_second(row.rate)) },
    OptionalColumn { title: "Running", of: |row| row.count.running.map(|time| time.to_string()) },
    OptionalColumn { title: "Waiting", of: |row| row.count.waiting.map(|time| time.to_string()) },
    OptionalColumn {
        title: "In\u{a0}guest",
        of: |row| row.count.guest.filter(|time| time.0 > 0).map(|time| time.to_string()),
    },
];

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let threads = &source.trace.threads;
    if threads.len() < 2 {
        return None;
    }
    let mut numbers = present(COLUMNS, threads);
    numbers.retain(|shown| shown.title != RATE || !source.is_short());
    // If every thread has the same name as its process, one name is enough.
    let in_processes = threads.iter().any(|row| thread(row).unwrap_or_default() != process(row));
    let mut columns = vec![left("Thread")];
    columns.extend(in_processes.then(|| left("Process")));
    columns.extend(numbers.iter().map(|shown| right(shown.title)));
    columns.push(left("Longest in"));
    let row = |row: &TracedCall| {
        let mut phrase = vec![Text::strong(thread(row).unwrap_or_default())];
        phrase.extend(in_processes.then(|| Text::from(process(row))));
        phrase.extend(numbers.iter().map(|shown| result(*shown, row)));
        phrase.push(row.count.call.as_str().into());
        phrase
    };
    let rows = threads.iter().take(source.top).map(row).collect();
    let mut blocks = vec![Block::Table(Table { columns, rows, caption: None })];
    let more = threads.len().saturating_sub(source.top);
    if more > 0 {
        let phrase = and_more(&phrases::count(more, "more thread"), threads.len());
        blocks.push(Block::Paragraph(Text::faint(phrase)));
    }
    Some(section("Threads", blocks))
}

fn process(row: &TracedCall) -> String {
    let name = row.count.process.clone().unwrap_or_default();
    row.count.pid.map_or_else(|| name.clone(), |pid| format!("{name} ({pid})"))
}
