//! System calls in a result's trials, summed by caller. The counts come from another tool or from probed trials.

use std::collections::{HashMap, hash_map::Entry};

use samples::{CallTimes, SyscallCount};
use units::{Bytes, Nanos};

use crate::{observations::Observations, probed};

/// Sorts by decreasing time, then by decreasing count. Uses the running time if known, because the thread that waits
/// longest does the least work.
pub(crate) fn together(result: &Observations<'_>) -> Vec<SyscallCount> {
    let unprobed = result.trials().flat_map(|trial| &trial.syscalls);
    let probed = probed::watched(result).into_iter().flat_map(|(_, seen)| &seen.syscalls);
    let mut all = added_up(unprobed.chain(probed));
    all.sort_by_key(|count| std::cmp::Reverse((count.running.or(count.total), count.calls)));
    all
}

/// Sorts unfinished calls by decreasing time. Each input counts as one call.
pub(crate) fn under_way<'a>(calls: impl Iterator<Item = &'a SyscallCount>) -> Vec<SyscallCount> {
    let each: Vec<SyscallCount> = calls.map(|call| SyscallCount { calls: 1, ..call.clone() }).collect();
    let mut all = added_up(each.iter());
    all.sort_by_key(|call| std::cmp::Reverse((call.total, call.calls)));
    all
}

fn added_up<'a>(counts: impl Iterator<Item = &'a SyscallCount>) -> Vec<SyscallCount> {
    let mut all: Vec<SyscallCount> = Vec::new();
    // Searching the rows would be slow on a machine with thousands of threads.
    let mut places: HashMap<CallKey<'_>, usize> = HashMap::new();
    for count in counts {
        match places.entry(whose(count)) {
            Entry::Occupied(known) => add(&mut all[*known.get()], count),
            Entry::Vacant(free) => {
                free.insert(all.len());
                all.push(count.clone());
            }
        }
    }
    all
}

type CallKey<'a> = [Option<&'a str>; 4];

fn whose(count: &SyscallCount) -> CallKey<'_> {
    [count.end.as_deref(), count.process.as_deref(), count.thread.as_deref(), Some(&count.call)]
}

pub(crate) fn add(known: &mut SyscallCount, more: &SyscallCount) {
    known.calls = known.calls.saturating_add(more.calls);
    known.errors = both(known.errors, more.errors, u64::saturating_add);
    let times = |one, other| both(one, other, |one: Nanos, other| Nanos(one.0.saturating_add(other.0)));
    known.total = times(known.total, more.total);
    known.running = times(known.running, more.running);
    known.waiting = times(known.waiting, more.waiting);
    known.guest = times(known.guest, more.guest);
    known.bytes = both(known.bytes, more.bytes, |one: Bytes, other| Bytes(one.0.saturating_add(other.0)));
    add_times(&mut known.times, &more.times);
    known.pid = known.pid.filter(|pid| more.pid == Some(*pid));
    known.tid = known.tid.filter(|tid| more.tid == Some(*tid));
}

pub(crate) fn add_times(known: &mut CallTimes, more: &CallTimes) {
    if known.0.len() < more.0.len() {
        known.0.resize(more.0.len(), 0);
    }
    known.0.iter_mut().zip(&more.0).for_each(|(sum, count)| *sum = sum.saturating_add(*count));
}

fn both<T>(one: Option<T>, other: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    Some(add(one?, other?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixtures::Fixture, observations::gather};

    fn count(thread: &str, call: &str, calls: u64, total: Option<u64>) -> SyscallCount {
        SyscallCount {
            end: None,
            process: Some("qemu-system-x86".into()),
            thread: Some(thread.into()),
            call: call.into(),
            calls,
            errors: None,
            total: total.map(Nanos),
            running: None,
            waiting: None,
            guest: None,
            ..SyscallCount::default()
        }
    }

    #[test]
    fn sums_equal_calls_by_thread_and_sorts_by_time() {
        let mut run = Fixture::new(2);
        run.path("plain", &["wire"]).stream("plain", &[], 1e9).each("plain/bulk", |trial| {
            let unknown = (trial.block == 0).then_some(7);
            trial.syscalls = vec![
                count("CPU 0/KVM", "ioctl", 100, Some(5000)),
                count("main", "ppoll", 10, Some(9000)),
                count("main", "write", 1000, unknown),
            ];
        });
        let all = together(&gather(&run.record)[0]);
        let listed: Vec<_> = all.iter().map(|it| (it.call.as_str(), it.calls, it.total)).collect();
        assert_eq!(
            listed,
            [("ppoll", 20, Some(Nanos(18_000))), ("ioctl", 200, Some(Nanos(10_000))), ("write", 2000, None)]
        );
    }

    #[test]
    fn threads_that_only_wait_come_last() {
        let mut run = Fixture::new(1);
        run.path("plain", &["wire"]).stream("plain", &[], 1e9).probed("plain/bulk");
        run.seen("plain/bulk", |_, seen| {
            let split = |call: &str, running: u64| SyscallCount {
                running: Some(Nanos(running)),
                ..count("main", call, 1, Some(1_000_000))
            };
            seen.syscalls = vec![split("futex", 10), split("sendto", 900)];
        });
        let all = together(&gather(&run.record)[0]);
        assert_eq!(all.iter().map(|it| it.call.as_str()).collect::<Vec<_>>(), ["sendto", "futex"]);
    }
}
