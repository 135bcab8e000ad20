//! A test read from one log.

use std::{collections::BTreeMap, ops::RangeInclusive, sync::Arc};

use samples::{ImportedSettings, SyscallCount, ThreadCpu, UnixMillis, ValidityWarning};
use workload::Measurement;

#[derive(Debug, Clone, PartialEq)]
pub struct ImportedTest {
    pub format: &'static str,
    pub file: String,
    pub title: Vec<String>,
    pub lines: RangeInclusive<u64>,
    pub other_end: Option<(String, RangeInclusive<u64>)>,
    pub settings: ImportedSettings,
    pub end: Option<End>,
    pub hosts: Option<(String, String)>,
    pub peer: Option<String>,
    pub connections: Vec<String>,
    pub levels: BTreeMap<String, String>,
    pub started: Option<UnixMillis>,
    /// If this log does not cover an end of a stream, that end has no intervals.
    pub measurement: Measurement,
    pub syscalls: Vec<SyscallCount>,
    pub threads: Vec<ThreadCpu>,
    pub warnings: Vec<ValidityWarning>,
    /// Properties that not every log shows. A property distinguishes two tests only if both have it.
    pub observed: BTreeMap<&'static str, String>,
    pub part: Part,
}

/// A part of a file with only the tool's own output between the tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    pub start: u64,
    pub label: Option<Arc<str>>,
    pub evidence: Evidence,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Evidence {
    /// Nothing separates the tests. They are trials of one result if their values agree.
    #[default]
    Adjacent,
    /// The tests come from a loop, a script or numbered runs, so they are trials.
    Repeated,
    /// Each test differs in an unknown way, e.g. because table rows have remarks or the command uses a loop variable.
    Varies,
}

impl ImportedTest {
    /// The reader adds the title.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    Client,
    Server,
    Both,
}
