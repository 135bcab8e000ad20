//! One test as read from one log.

use std::{collections::BTreeMap, ops::RangeInclusive};

use samples::{ImportedSettings, SyscallCount, ThreadCpu, UnixMillis, ValidityWarning};
use workload::Measurement;

/// One test in a log, or one table row.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedTest {
    /// Input format, e.g. `iperf3 text` or `Markdown table`.
    pub format: &'static str,
    /// Input file; set by the assembler.
    pub file: String,
    /// Headings above the test, outermost first.
    pub title: Vec<String>,
    /// Counted from 1.
    pub lines: RangeInclusive<u64>,
    /// File and lines of the other end's log, if in another file.
    pub other_end: Option<(String, RangeInclusive<u64>)>,
    /// Settings as far as the log shows them.
    pub settings: ImportedSettings,
    /// Which end wrote the log, if known.
    pub end: Option<End>,
    /// Client and server, if the log names both.
    pub hosts: Option<(String, String)>,
    /// The other end's name or address, if the log names only that.
    pub peer: Option<String>,
    /// Each connection as `client:port server:port`, if known.
    pub connections: Vec<String>,
    /// Factor levels in the log itself, e.g. table columns.
    pub levels: BTreeMap<String, String>,
    /// Start time, if logged.
    pub started: Option<UnixMillis>,
    /// The measurement. An end of a stream that this log does not cover has no intervals.
    pub measurement: Measurement,
    /// System call counts.
    pub syscalls: Vec<SyscallCount>,
    /// CPU time of the tool at each end.
    pub threads: Vec<ThreadCpu>,
    pub warnings: Vec<ValidityWarning>,
}

impl ImportedTest {
    /// A test with only these properties. The reader sets the title.
    #[must_use]
    pub const fn new(
        format: &'static str,
        lines: RangeInclusive<u64>,
        settings: ImportedSettings,
        measurement: Measurement,
    ) -> Self {
        Self {
            format,
            file: String::new(),
            title: Vec::new(),
            lines,
            other_end: None,
            settings,
            end: None,
            hosts: None,
            peer: None,
            connections: Vec::new(),
            levels: BTreeMap::new(),
            started: None,
            measurement,
            syscalls: Vec::new(),
            threads: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// Which end wrote a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// The client, possibly with the server's summary.
    Client,
    Server,
    Both,
}
