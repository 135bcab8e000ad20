//! What was counted of each thread and call. Must not know how a call was seen.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use samples::{CallTimes, ProbeResults, PtraceSlice, PtraceSlices, SyscallCount};
use units::{Bytes, Nanos};

use crate::syscalls::names::{name, returns_anything, returns_bytes};

/// Whose call it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Caller {
    pub(super) tid: u32,
    pub(super) pid: u32,
    pub(super) thread: String,
    pub(super) process: String,
}

/// The sums.
#[derive(Debug, Default)]
pub(super) struct Tallies {
    calls: HashMap<(u32, u64), Tally>,
    /// Threads as they were called last.
    who: HashMap<u32, Caller>,
    pub(super) stopping: PtraceSlices,
    /// When the slice began that is not over yet.
    pub(super) looking_since: Option<Instant>,
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
    /// A thread is called so from now on, in all that was counted of it.
    pub(super) fn named(&mut self, who: &Caller) {
        self.who.insert(who.tid, who.clone());
    }

    /// A call of that number, by that thread, that took so long and returned this.
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

    /// A slice or a rest that was whole.
    pub(super) fn slice(&mut self, slice: PtraceSlice) {
        self.stopping.slices.push(slice);
    }

    /// Puts in what was counted.
    pub(super) fn tell(&self, seen: &mut ProbeResults) {
        let mut counts: Vec<SyscallCount> = self
            .calls
            .iter()
            .map(|((tid, number), tally)| tally.of(self.who.get(tid), *tid, *number))
            .collect();
        counts.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| (a.tid, &a.call).cmp(&(b.tid, &b.call))));
        seen.syscalls = counts;
        let mut stopping = self.stopping.clone();
        let now = self.looking_since.map_or(Duration::ZERO, |since| since.elapsed());
        stopping.looked = stopping.looked + now.into();
        seen.stopping = Some(stopping);
    }
}

impl Tally {
    /// How a call's time is split into running and waiting cannot be seen from outside.
    fn of(&self, who: Option<&Caller>, tid: u32, number: u64) -> SyscallCount {
        let call = u32::try_from(number).map_or_else(|_| format!("syscall {number}"), name);
        SyscallCount {
            process: who.map(|who| who.process.clone()),
            thread: who.map(|who| who.thread.clone()),
            pid: who.map(|who| who.pid),
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

/// A slice from what was read at its beginning and at its end.
pub(super) fn slice(looking: bool, elapsed: Duration, cpu: u64, moved: u64) -> PtraceSlice {
    PtraceSlice { looking, elapsed: elapsed.into(), cpu: Nanos(cpu), moved }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_added_up_by_thread_and_kind_and_their_split_is_unknown() {
        let mut tallies = Tallies::default();
        let who = Caller { tid: 7, pid: 5, thread: "t".into(), process: "p".into() };
        tallies.named(&who);
        for (number, value, failed) in [(0, 10, false), (0, 20, false), (0, -11, true), (3, 0, false)] {
            tallies.count(who.tid, number, Duration::from_nanos(1500), value, failed);
        }
        let mut seen = ProbeResults::default();
        tallies.tell(&mut seen);
        let [read, close] = &seen.syscalls[..] else { panic!("{seen:?}") };
        assert_eq!((read.call.as_str(), read.calls, read.errors), ("read", 3, Some(1)));
        assert_eq!((read.bytes, read.total), (Some(Bytes(30)), Some(Nanos(4500))));
        assert_eq!((read.running, read.waiting), (None, None), "unknown is not nought");
        assert_eq!(read.times.0.iter().sum::<u64>(), 3);
        assert_eq!(read.times.0.len(), 11, "1500 is at least 2^10");
        assert_eq!((close.call.as_str(), close.bytes), ("close", None));
        assert_eq!(
            (close.thread.as_deref(), close.process.as_deref(), close.pid),
            (Some("t"), Some("p"), Some(5))
        );
    }
}
