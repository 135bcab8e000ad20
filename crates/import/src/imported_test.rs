//! What reading a log brings: one test as far as one log tells it.
//! Must not know how a format is read, nor which tests belong together.

use std::{collections::BTreeMap, ops::RangeInclusive};

use samples::{ImportedSettings, SyscallCount, ThreadCpu, UnixMillis, ValidityWarning};
use workload::Measurement;

/// One test that was found in a log, or one row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedTest {
    /// The format it was read from: `iperf3 text`, `Markdown table`.
    pub format: &'static str,
    /// The file it stands in, as it was named; filled in by the assembler.
    pub file: String,
    /// The headings above it, outermost first, as they are written.
    pub title: Vec<String>,
    /// The lines it was read from, counted from 1.
    pub lines: RangeInclusive<u64>,
    /// The file and the lines of the other end's log, where that is another file.
    pub other_end: Option<(String, RangeInclusive<u64>)>,
    /// What was sent, as far as the log tells.
    pub told: ImportedSettings,
    /// Whose log it is; `None` where nothing tells.
    pub end: Option<End>,
    /// Names or addresses of client and server, where the log tells both.
    pub hosts: Option<(String, String)>,
    /// The other end's name or address, where the log tells no more than that.
    pub peer: Option<String>,
    /// Each connection as `client:port server:port`, where the log tells them.
    pub connections: Vec<String>,
    /// Levels of factors that the log itself names: a table's columns.
    pub levels: BTreeMap<String, String>,
    /// When it began, where the log tells.
    pub started: Option<UnixMillis>,
    /// What was measured; of a stream, an end that this log does not show has no intervals.
    pub measurement: Measurement,
    /// System calls that were counted.
    pub syscalls: Vec<SyscallCount>,
    /// CPU time of the tool at either end.
    pub threads: Vec<ThreadCpu>,
    /// Reasons to distrust it.
    pub doubts: Vec<ValidityWarning>,
}

impl ImportedTest {
    /// A test of which nothing is known but this. Its title is filled in by the reader.
    #[must_use]
    pub const fn new(
        format: &'static str,
        lines: RangeInclusive<u64>,
        told: ImportedSettings,
        measurement: Measurement,
    ) -> Self {
        Self {
            format,
            file: String::new(),
            title: Vec::new(),
            lines,
            other_end: None,
            told,
            end: None,
            hosts: None,
            peer: None,
            connections: Vec::new(),
            levels: BTreeMap::new(),
            started: None,
            measurement,
            syscalls: Vec::new(),
            threads: Vec::new(),
            doubts: Vec::new(),
        }
    }
}

/// Whose log it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// The client's: it may hold the server's summary.
    Client,
    /// The server's.
    Server,
    Both,
}
