//! Analyses a trace: rates and fractions of system calls by caller, and CPU time by owner. `trace/comparison.rs`
//! compares two traces.

mod comparison;
mod interval;
mod ptrace;
#[cfg(test)]
mod tests;
mod vm;

use std::collections::{BTreeMap, BTreeSet};

use findings::{TraceSummary, TracedCall, TracedCpu, TracedShare};
use samples::{AttributedCpu, CallTimes, DeviceCounters, SyscallCount, Trace};
use units::{Bytes, Nanos};

use crate::syscalls;

pub use comparison::trace_comparison;
pub use interval::observed_since;
pub use vm::vm;

/// Shorter traces are not compared with /proc/stat, which counts in ticks of 10 ms.
const LONG: Nanos = Nanos::from_millis(900);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallGrouping {
    Call,
    Process,
    Thread,
}

#[must_use]
pub fn trace(trace: &Trace, by: CallGrouping) -> TraceSummary {
    let seen = &trace.observed;
    // With ptrace, calls are counted only during slices.
    let looked = seen.ptrace.as_ref().map_or(seen.elapsed, |ptrace| ptrace.counted);
    let rows = Rows { elapsed: looked, all: time(&seen.syscalls) };
    let timed = |seen: &TracedCall| (seen.count.total, seen.count.calls);
    let mut calls = rows.by(&seen.syscalls, |count| key(count, by));
    calls.sort_by_key(|call| std::cmp::Reverse(timed(call)));
    let mut threads = rows.by(&seen.syscalls, |count| Key { call: None, ..key(count, CallGrouping::Thread) });
    threads.sort_by_key(|thread| std::cmp::Reverse((thread.count.running, timed(thread))));
    TraceSummary {
        target: trace.target.clone(),
        started: trace.started,
        elapsed: seen.elapsed,
        ended: Some(trace.ended.clone()),
        cpus: trace.environment.cpus,
        calls,
        threads,
        all: rows.by(&seen.syscalls, |_| Key::default()).pop(),
        under_way: under_way(&seen.under_way),
        ptrace: seen.ptrace.as_ref().map(ptrace::of),
        cpu: seen.cpu.as_ref().map(cpu),
        devices: trace.devices.iter().filter(|device| counted(device)).cloned().collect(),
        softnet: trace.softnet,
        overflowed: seen.overflowed.clone(),
        missing: trace.missing.clone(),
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    process: Option<String>,
    thread: Option<String>,
    tid: Option<u32>,
    call: Option<String>,
}

fn key(count: &SyscallCount, by: CallGrouping) -> Key {
    let call = Some(count.call.clone());
    match by {
        CallGrouping::Call => Key { call, ..Key::default() },
        CallGrouping::Process => Key { call, process: count.process.clone(), ..Key::default() },
        CallGrouping::Thread => {
            Key { call, process: count.process.clone(), thread: count.thread.clone(), tid: count.tid }
        }
    }
}

struct Rows {
    elapsed: Nanos,
    all: Option<Nanos>,
}

impl Rows {
    fn by(&self, counts: &[SyscallCount], key: impl Fn(&SyscallCount) -> Key) -> Vec<TracedCall> {
        let mut groups: BTreeMap<Key, Vec<&SyscallCount>> = BTreeMap::new();
        // Skip calls that never returned, e.g. an exit.
        for count in counts.iter().filter(|count| count.calls > 0) {
            groups.entry(key(count)).or_default().push(count);
        }
        groups.into_iter().map(|(key, group)| self.row(key, &group)).collect()
    }

    fn row(&self, key: Key, group: &[&SyscallCount]) -> TracedCall {
        let longest = group.iter().max_by_key(|count| (count.total, count.calls));
        let call = key.call.or_else(|| longest.map(|count| count.call.clone())).unwrap_or_default();
        let mut count = added(group);
        count.call = call;
        (count.process, count.thread, count.tid) = (key.process, key.thread, key.tid);
        let seconds = self.elapsed.seconds();
        let share = count.total.zip(self.all).filter(|(_, all)| all.0 > 0);
        TracedCall {
            threads: group.iter().map(|count| (count.pid, count.tid)).collect::<BTreeSet<_>>().len() as u32,
            rate: if seconds > 0.0 { count.calls as f64 / seconds } else { 0.0 },
            share: share.map(|(total, all)| total.0 as f64 / all.0 as f64),
            per_call: count.total.filter(|_| count.calls > 0).map(|total| Nanos(total.0 / count.calls)),
            p99_below: below(&count.times, 0.99),
            count,
        }
    }
}

fn under_way(calls: &[SyscallCount]) -> Vec<SyscallCount> {
    let mut calls = syscalls::under_way(calls.iter());
    calls.iter_mut().for_each(|call| call.end = None);
    calls
}

fn added(group: &[&SyscallCount]) -> SyscallCount {
    let times = |of: fn(&SyscallCount) -> Option<Nanos>| {
        let mut known = group.iter().map(|count| of(count));
        known.try_fold(Nanos(0), |sum, time| Some(Nanos(sum.0.saturating_add(time?.0))))
    };
    let guest: Vec<Nanos> = group.iter().filter_map(|count| count.guest).collect();
    let bytes: Vec<Bytes> = group.iter().filter_map(|count| count.bytes).collect();
    let same_pid = group.iter().map(|count| count.pid).collect::<BTreeSet<_>>();
    SyscallCount {
        pid: if same_pid.len() == 1 { group[0].pid } else { None },
        calls: group.iter().map(|count| count.calls).sum(),
        errors: group.iter().try_fold(0, |sum, count| Some(sum + count.errors?)),
        total: times(|count| count.total),
        running: times(|count| count.running),
        waiting: times(|count| count.waiting),
        // Calls without guest time or bytes count as zero, so that the sum remains known.
        guest: (!guest.is_empty()).then(|| Nanos(guest.iter().map(|time| time.0).sum())),
        bytes: (!bytes.is_empty()).then(|| Bytes(bytes.iter().map(|bytes| bytes.0).sum())),
        times: together(group),
        ..SyscallCount::default()
    }
}

fn together(group: &[&SyscallCount]) -> CallTimes {
    let mut sums = CallTimes::default();
    group.iter().for_each(|count| syscalls::add_times(&mut sums, &count.times));
    sums
}

/// Returns the upper end of the percentile's bucket, a power of two.
fn below(times: &CallTimes, share: f64) -> Option<Nanos> {
    let all: u64 = times.0.iter().sum();
    let wanted = (all as f64 * share).ceil() as u64;
    let mut seen = 0;
    let place = times.0.iter().position(|count| {
        seen += count;
        seen >= wanted
    });
    place.filter(|_| all > 0).map(|place| Nanos(1 << (place + 1).min(63)))
}

fn time(counts: &[SyscallCount]) -> Option<Nanos> {
    let known: Vec<Nanos> =
        counts.iter().filter(|count| count.calls > 0).filter_map(|count| count.total).collect();
    (!known.is_empty()).then(|| known.into_iter().sum())
}

fn counted(device: &DeviceCounters) -> bool {
    device.rx_packets + device.tx_packets + device.rx_dropped + device.tx_dropped > 0
}

fn cpu(attributed: &AttributedCpu) -> TracedCpu {
    let cpus = |time: Nanos| {
        if attributed.elapsed.0 > 0 { time.0 as f64 / attributed.elapsed.0 as f64 } else { 0.0 }
    };
    let share = |share: &samples::ConsumerShare| TracedShare {
        consumer: share.consumer,
        process: share.process.clone(),
        thread: share.thread.clone(),
        cpu: share.cpu,
        time: share.time,
        cpus: cpus(share.time),
    };
    let explained: Nanos = attributed.shares.iter().map(|share| share.time).sum();
    let mut shares: Vec<TracedShare> = attributed.shares.iter().map(share).collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.time));
    TracedCpu {
        source: attributed.source,
        reason: attributed.reason.clone(),
        shares,
        explained: cpus(explained),
        busy: (attributed.elapsed >= LONG).then(|| cpus(attributed.busy)),
        steal: cpus(attributed.steal),
    }
}
