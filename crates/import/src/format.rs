//! The list of input formats, and the traits that they implement.

use crate::{
    balloon::Balloon, document, flent::Flent, imported_test::ImportedTest, iperf3, markdown::Markdown,
    netperf::Netperf, options::Options, perf_trace::PerfTrace, sockperf::Sockperf, strace::Strace,
};

/// A line-based format. It gets each line that no other format has claimed, and manages its own state.
pub(crate) trait Format {
    fn line(&mut self, line: &Line<'_>, out: &mut Out) -> Claim;

    fn end(&mut self, out: &mut Out);

    /// Called for every table row, even if another format claims it, because a table may repeat numbers from a log.
    fn table_row(&mut self, _row: &Line<'_>, _out: &mut Out) {}

    fn finish(&mut self, out: &mut Out) {
        self.end(out);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    Claimed,
    Declined,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) number: u64,
    /// The line's text, without terminal escape codes and with invalid UTF-8 replaced.
    pub(crate) text: &'a str,
    /// `false` if this line is cut off by the end of the file.
    pub(crate) whole: bool,
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Out {
    pub(crate) title: Vec<String>,
    pub(crate) founds: Vec<ImportedTest>,
    pub(crate) notes: Vec<String>,
    pub(crate) table_notes: Vec<String>,
    pub(crate) columns: Vec<String>,
    pub(crate) unread: Vec<(&'static str, u64)>,
}

impl Out {
    pub(crate) fn found(&mut self, found: ImportedTest) {
        self.founds.push(found);
    }

    /// Adds a note about missing or skipped input: a full sentence with the line number, without the file name.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Counts a skipped line that looks like a log. Such lines are reported once per file and tool.
    pub(crate) fn unread(&mut self, tool: &'static str, line: u64) {
        self.unread.push((tool, line));
    }

    pub(crate) fn note_on_table(&mut self, note: impl Into<String>) {
        self.table_notes.push(note.into());
    }
}

/// In a file with tool logs, tables usually repeat the numbers in the logs.
pub(crate) const TABLE: &str = "table";

pub(crate) fn of_lines(options: &Options) -> Vec<Box<dyn Format>> {
    vec![
        Box::new(iperf3::Text::default()),
        Box::new(Sockperf::default()),
        Box::new(Netperf::default()),
        Box::new(Strace::default()),
        Box::new(PerfTrace::default()),
        Box::new(Balloon::default()),
        Box::new(Markdown::new(options)),
    ]
}

pub(crate) fn of_documents() -> Vec<Box<dyn document::Document>> {
    vec![Box::new(iperf3::Json::default()), Box::new(Flent)]
}

pub const KNOWN: &str = "iperf3 (text, JSON), sockperf, netperf, flent, strace -c, perf trace -s, balloon kernel log, tables (Markdown, boxes, aligned text, CSV)";
