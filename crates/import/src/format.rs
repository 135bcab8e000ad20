//! The shape that every format has, and the list of them.
//! Must not know what becomes of what they find.

use crate::{
    balloon::Balloon, document, flent::Flent, imported_test::ImportedTest, iperf3, markdown::Markdown,
    netperf::Netperf, options::Options, perf_trace::PerfTrace, sockperf::Sockperf, strace::Strace,
};

/// A format of lines. It is offered every line that no other format took, and keeps its own state.
pub(crate) trait Format {
    /// Takes the line, or leaves it to others. What is complete goes to `out` at once.
    fn line(&mut self, line: &Line<'_>, out: &mut Out) -> Claim;

    /// No more lines belong to what is under way: a heading, the end of a code block or of the file.
    fn end(&mut self, out: &mut Out);

    /// A row of a table, whoever takes it: it may repeat what a log says.
    fn row_beside(&mut self, _row: &Line<'_>, _out: &mut Out) {}

    /// The end of the file.
    fn finish(&mut self, out: &mut Out) {
        self.end(out);
    }
}

/// Whether a format took a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// It is its own; nobody else sees it.
    Claimed,
    /// It means nothing to it.
    Declined,
}

/// A line without its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Counted from 1.
    pub(crate) number: u64,
    /// What is no UTF-8 in it was replaced; codes of terminals were removed.
    pub(crate) text: &'a str,
    /// Whether it has an end: the last line of a file that was cut off has none.
    pub(crate) whole: bool,
}

/// Where formats put what they find.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Out {
    /// The headings above the line, outermost first; formats may look, and need not copy it.
    pub(crate) title: Vec<String>,
    pub(crate) founds: Vec<ImportedTest>,
    pub(crate) notes: Vec<String>,
    pub(crate) table_notes: Vec<String>,
    /// Headings of tables' columns, as they are written.
    pub(crate) columns: Vec<String>,
    /// Lines that look like a log and were not read, each with whose they are.
    pub(crate) unread: Vec<(&'static str, u64)>,
}

impl Out {
    /// Hands on a test that is complete.
    pub(crate) fn found(&mut self, found: ImportedTest) {
        self.founds.push(found);
    }

    /// Says what is missing or was left out: a full sentence that names its line, without the file's name.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Counts a line that looks like a log and is not read: it is told once a file, with how many others are `whose`.
    pub(crate) fn unread(&mut self, whose: &'static str, line: u64) {
        self.unread.push((whose, line));
    }

    /// The same of a table: nobody needs it where tables are left out.
    pub(crate) fn note_on_table(&mut self, note: impl Into<String>) {
        self.table_notes.push(note.into());
    }
}

/// What tables are found as: in files that hold the tools' own logs too they mostly repeat those.
pub(crate) const TABLE: &str = "Markdown table";

/// Every format of lines, the most distinct ones first, and tables last.
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

/// Every format of JSON documents.
pub(crate) fn of_documents(_options: &Options) -> Vec<Box<dyn document::Document>> {
    vec![Box::new(iperf3::Json::default()), Box::new(Flent)]
}

/// What is recognised, as errors tell it.
pub const KNOWN: &str = "iperf3 (text, JSON), sockperf, netperf, flent, strace -c, perf trace -s, a balloon's kernel log, Markdown tables";
