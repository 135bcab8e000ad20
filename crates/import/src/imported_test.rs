//! One test as read from one log.

use std::{collections::BTreeMap, ops::RangeInclusive, sync::Arc};

use samples::{ImportedSettings, SyscallCount, ThreadCpu, UnixMillis, ValidityWarning};
use workload::Measurement;

/// One test in a log, or one table row.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedTest {
    /// Input format, e.g. `iperf3 text` or `table`.
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
    /// Properties that not every log shows; they distinguish tests that both show them.
    pub observed: BTreeMap<&'static str, String>,
    /// The part of the file that the test belongs to; set by the reader.
    pub part: Part,
}

/// A part of a file: tests with nothing but the tool's own lines between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// First line.
    pub start: u64,
    /// The words above the tests.
    pub label: Option<Arc<str>>,
    pub evidence: Evidence,
}

/// Evidence that tests with equal settings are repeated trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Evidence {
    /// Nothing separates them: trials if their values agree.
    #[default]
    Adjacent,
    /// A loop, a script or numbered runs: trials.
    Repeated,
    /// Each differs in an unknown way, e.g. rows of a table with equal settings, or a variable in a loop.
    Varies,
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
            observed: BTreeMap::new(),
            part: Part { start: 0, label: None, evidence: Evidence::Adjacent },
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
