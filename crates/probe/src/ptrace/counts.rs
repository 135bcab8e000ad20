//! Counts per thread and call.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use samples::{CallTimes, ProbeResults, PtraceSlice, PtraceSlices, SyscallCount};
use units::{Bytes, Nanos};

use crate::syscalls::names::{name, returns_anything, returns_bytes};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Caller {
    pub(super) tid: u32,
    pub(super) pid: u32,
    pub(super) thread: String,
    pub(super) process: String,
}

#[derive(Debug, Default)]
pub(super) struct Tallies {
    calls: HashMap<(u32, u64), Tally>,
    caller: HashMap<u32, Caller>,
    pub(super) ptrace: PtraceSlices,
    pub(super) counting_since: Option<Instant>,
}

#[derive(Debug, Default)]
struct Tally {
    calls: u64,
    errors: u64,
    returned: u64,
    total: Duration,
    times: Vec<u64>,
}

impl Tallies {
    pub(super) fn named(&mut self, caller: &Caller) {
        self.caller.insert(caller.tid, caller.clone());
    }

    pub(super) fn count(&mut self, tid: u32, number: u64, took: Duration, value: i64, failed: bool) {
        let tally = self.calls.entry((tid, number)).or_default();
        tally.calls += 1;
        tally.errors += u64::from(failed);
        tally.returned += if failed { 0 } else { u64::try_from(value).unwrap_or_default() };
        tally.total += took;
        let place = (took.as_nanos().max(1) as u64).ilog2() as usize;
        if tally.times.len() <= place {
            tally.times.resize(place + 1, 0);
        }
        tally.times[place] += 1;
    }

    pub(super) fn slice(&mut self, slice: PtraceSlice) {
        self.ptrace.slices.push(slice);
    }

    pub(super) fn add_to(&self, results: &mut ProbeResults) {
        let mut counts: Vec<SyscallCount> = self
            .calls
            .iter()
            .map(|((tid, number), tally)| tally.of(self.caller.get(tid), *tid, *number))
            .collect();
        counts.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| (a.tid, &a.call).cmp(&(b.tid, &b.call))));
        results.syscalls = counts;
        let mut ptrace = self.ptrace.clone();
        let now = self.counting_since.map_or(Duration::ZERO, |since| since.elapsed());
        ptrace.counted = ptrace.counted + now.into();
        results.ptrace = Some(ptrace);
    }
}

impl Tally {
    fn of(&self, caller: Option<&Caller>, tid: u32, number: u64) -> SyscallCount {
        let call = u32::try_from(number).map_or_else(|_| format!("syscall {number}"), name);
        SyscallCount {
            process: caller.map(|caller| caller.process.clone()),
            thread: caller.map(|caller| caller.thread.clone()),
            pid: caller.map(|caller| caller.pid),
            tid: Some(tid),
            calls: self.calls,
            errors: Some(if returns_anything(&call) { 0 } else { self.errors }),
            total: Some(self.total.into()),
            running: None,
            waiting: None,
            guest: None,
            bytes: returns_bytes(&call).then_some(Bytes(self.returned)),
            times: CallTimes(self.times.clone()),
            call,
            end: None,
        }
    }
}

pub(super) fn slice(counting: bool, elapsed: Duration, cpu: u64, io_calls: u64) -> PtraceSlice {
    PtraceSlice { counting, elapsed: elapsed.into(), cpu: Nanos(cpu), io_calls }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_calls_by_thread_and_kind_without_split() {
        let mut tallies = Tallies::default();
        let caller = Caller { tid: 7, pid: 5, thread: "t".into(), process: "p".into() };
        tallies.named(&caller);
        for (number, value, failed) in [(0, 10, false), (0, 20, false), (0, -11, true), (3, 0, false)] {
            tallies.count(caller.tid, number, Duration::from_nanos(1500), value, failed);
        }
        let mut results = ProbeResults::default();
        tallies.add_to(&mut results);
        let [read, close] = &results.syscalls[..] else { panic!("{results:?}") };
        assert_eq!((read.call.as_str(), read.calls, read.errors), ("read", 3, Some(1)));
        assert_eq!((read.bytes, read.total), (Some(Bytes(30)), Some(Nanos(4500))));
        assert_eq!((read.running, read.waiting), (None, None), "unknown differs from zero");
        assert_eq!(read.times.0.iter().sum::<u64>(), 3);
        assert_eq!(read.times.0.len(), 11, "1500 is at least 2^10");
        assert_eq!((close.call.as_str(), close.bytes), ("close", None));
        assert_eq!(
            (close.thread.as_deref(), close.process.as_deref(), close.pid),
            (Some("t"), Some("p"), Some(5))
        );
    }
}
