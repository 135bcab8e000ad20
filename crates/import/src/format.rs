//! The traits of input formats and the list of formats.

use crate::{
    balloon::Balloon, document, flent::Flent, imported_test::ImportedTest, iperf3, markdown::Markdown,
    netperf::Netperf, options::Options, perf_trace::PerfTrace, sockperf::Sockperf, strace::Strace,
};

/// A line-based format. It is offered each line that no other format claimed and keeps its own state.
pub(crate) trait Format {
    /// Claims the line or declines it. Complete tests go to `out` immediately.
    fn line(&mut self, line: &Line<'_>, out: &mut Out) -> Claim;

    /// Ends the current test, at a heading, the end of a code block or of the file.
    fn end(&mut self, out: &mut Out);

    /// Sees every table row, even if another format claims it: a table may repeat numbers from a log.
    fn row_beside(&mut self, _row: &Line<'_>, _out: &mut Out) {}

    /// Ends the file.
    fn finish(&mut self, out: &mut Out) {
        self.end(out);
    }
}

/// Whether a format claimed a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// No other format sees it.
    Claimed,
    Declined,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Counted from 1.
    pub(crate) number: u64,
    /// Invalid UTF-8 is replaced, and terminal escape codes are removed.
    pub(crate) text: &'a str,
    /// `false` for a truncated last line.
    pub(crate) whole: bool,
}

/// Output of the formats.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Out {
    /// Headings above the line, outermost first. Formats need not copy them.
    pub(crate) title: Vec<String>,
    pub(crate) founds: Vec<ImportedTest>,
    pub(crate) notes: Vec<String>,
    pub(crate) table_notes: Vec<String>,
    /// Column headings as written.
    pub(crate) columns: Vec<String>,
    /// Lines that look like a log but were skipped, with the tool's name.
    pub(crate) unread: Vec<(&'static str, u64)>,
}

impl Out {
    /// Adds a complete test.
    pub(crate) fn found(&mut self, found: ImportedTest) {
        self.founds.push(found);
    }

    /// Adds a note on missing or skipped input: a full sentence with the line number, without the file name.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Counts a skipped line that looks like a log; reported once per file and tool.
    pub(crate) fn unread(&mut self, tool: &'static str, line: u64) {
        self.unread.push((tool, line));
    }

    /// A note that is dropped if tables are skipped.
    pub(crate) fn note_on_table(&mut self, note: impl Into<String>) {
        self.table_notes.push(note.into());
    }
}

/// Format name of tables. In files with tool logs they mostly repeat those.
pub(crate) const TABLE: &str = "table";

/// Line formats, the most distinctive first, tables last.
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

pub(crate) fn of_documents(_options: &Options) -> Vec<Box<dyn document::Document>> {
    vec![Box::new(iperf3::Json::default()), Box::new(Flent)]
}

/// Supported formats, for error messages.
pub const KNOWN: &str = "iperf3 (text, JSON), sockperf, netperf, flent, strace -c, perf trace -s, balloon kernel log, tables (Markdown, boxes, aligned text, CSV)";
