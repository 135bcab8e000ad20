//! Collects system call counts from any input format until they can be added to a test.

use std::{collections::BTreeMap, ops::RangeInclusive};

use samples::{ImportedKind, ImportedSettings, SyscallCount};
use units::Nanos;
use workload::{Measurement, Quantity, ReportedData, ReportedValue};

use crate::imported_test::{End, Evidence, ImportedTest};

/// Maximum number of distinct (thread, call) pairs. The kernel has fewer than 500 calls.
const MOST: usize = 4096;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Call {
    pub(crate) thread: Option<String>,
    pub(crate) name: String,
    pub(crate) calls: u64,
    pub(crate) errors: Option<u64>,
    pub(crate) total: Option<Nanos>,
    pub(crate) running: Option<Nanos>,
}

#[derive(Debug, Default)]
pub(crate) struct Calls {
    all: Vec<Call>,
    places: BTreeMap<(Option<String>, String), usize>,
}

impl Calls {
    #[must_use]
    pub(crate) fn add(&mut self, call: Call) -> bool {
        let key = (call.thread.clone(), call.name.clone());
        if let Some(at) = self.places.get(&key) {
            let sum = both(&self.all[*at], &call);
            return sum.map(|sum| self.all[*at] = sum).is_some();
        }
        if self.all.len() == MOST {
            return false;
        }
        self.places.insert(key, self.all.len());
        self.all.push(call);
        true
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn seconds_are_elapsed(&mut self) {
        for call in &mut self.all {
            call.total = call.running.take();
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.all.iter().fold(0, |sum, call| sum.saturating_add(call.calls))
    }

    pub(crate) fn found(
        self,
        format: &'static str,
        tool: String,
        lines: RangeInclusive<u64>,
        title: &[String],
        values: Vec<ReportedValue>,
    ) -> ImportedTest {
        let listed = reported("listed system calls", self.count() as f64);
        let data = ReportedData { values: std::iter::once(listed).chain(values).collect() };
        let end = end_of(title);
        let word = end.map(|end| if end == End::Server { "server" } else { "client" });
        let mut found = ImportedTest::new(
            format,
            lines,
            ImportedSettings::of(tool, ImportedKind::Other),
            Measurement::Reported(data),
        );
        found.end = end;
        // Each summary is a separate result.
        found.part.evidence = Evidence::Varies;
        found.syscalls = self.all.into_iter().map(|call| record(call, word)).collect();
        found
    }
}

pub(crate) fn reported(name: &str, value: f64) -> ReportedValue {
    ReportedValue { name: name.to_owned(), quantity: Quantity::Count, value }
}

fn both(one: &Call, other: &Call) -> Option<Call> {
    let sum = |one: Option<Nanos>, other: Option<Nanos>| match (one, other) {
        (Some(one), Some(other)) => Some(Some(Nanos(one.0.checked_add(other.0)?))),
        _ => Some(None),
    };
    Some(Call {
        calls: one.calls.checked_add(other.calls)?,
        errors: one.errors.zip(other.errors).and_then(|(one, other)| one.checked_add(other)),
        total: sum(one.total, other.total)?,
        running: sum(one.running, other.running)?,
        ..one.clone()
    })
}

fn record(call: Call, end: Option<&str>) -> SyscallCount {
    SyscallCount {
        end: end.map(str::to_owned),
        process: None,
        thread: call.thread,
        call: call.name,
        calls: call.calls,
        errors: call.errors,
        total: call.total,
        running: call.running,
        waiting: None,
        guest: None,
        ..SyscallCount::default()
    }
}

fn end_of(title: &[String]) -> Option<End> {
    title.iter().rev().find_map(|heading| {
        let has = |end: &str| {
            heading.split(|c: char| !c.is_alphanumeric()).any(|word| word.eq_ignore_ascii_case(end))
        };
        match (has("client"), has("server")) {
            (true, false) => Some(End::Client),
            (false, true) => Some(End::Server),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(thread: &str, name: &str, calls: u64, total: Option<u64>) -> Call {
        let thread = Some(thread.to_owned());
        Call { thread, name: name.to_owned(), calls, total: total.map(Nanos), ..Call::default() }
    }

    #[test]
    fn sums_equal_calls_of_equal_threads() {
        let mut calls = Calls::default();
        for (thread, name, count, total) in [
            ("a", "read", 1, Some(10)),
            ("b", "read", 2, Some(20)),
            ("a", "read", 4, Some(40)),
            ("b", "read", 8, None),
        ] {
            assert!(calls.add(call(thread, name, count, total)));
        }
        let counts: Vec<_> = calls.all.iter().map(|call| (call.calls, call.total)).collect();
        assert_eq!(counts, [(5, Some(Nanos(50))), (10, None)]);
        assert_eq!(calls.count(), 15);
        assert!(!calls.add(call("a", "read", u64::MAX, None)), "the count overflows");
    }

    #[test]
    fn innermost_heading_determines_the_end() {
        for (title, end) in [
            (&["Throughput - Server Process", "BM-BM Client Syscalls"][..], Some(End::Client)),
            (&["Throughput - Server Process", "BM-BM"], Some(End::Server)),
            (&["server and client"], None),
            (&["observers"], None),
        ] {
            let title: Vec<String> = title.iter().map(|heading| (*heading).to_owned()).collect();
            assert_eq!(end_of(&title), end, "{title:?}");
        }
    }
}
