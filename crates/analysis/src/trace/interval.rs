//! Difference between two readings of the same probes.

use std::collections::BTreeMap;

use samples::{AttributedCpu, CallTimes, ConsumerShare, CpuConsumer, Overflow, ProbeResults, SyscallCount};
use units::{Bytes, Nanos};

use crate::syscalls;

/// Both readings must count from the same start.
#[must_use]
pub fn observed_since(now: &ProbeResults, before: &ProbeResults) -> ProbeResults {
    ProbeResults {
        elapsed: less(now.elapsed, before.elapsed),
        cpu: now.cpu.as_ref().map(|now| before.cpu.as_ref().map_or_else(|| now.clone(), |it| cpu(now, it))),
        syscalls: calls(&now.syscalls, &before.syscalls),
        under_way: now.under_way.clone(),
        ptrace: now.ptrace.clone(),
        latency_breakdown: None,
        overflowed: overflowed(&now.overflowed, &before.overflowed),
        failed: now.failed.clone(),
    }
}

type CallKey<'a> = (Option<u32>, Option<u32>, &'a str);

fn call_key(count: &SyscallCount) -> CallKey<'_> {
    (count.pid, count.tid, &count.call)
}

fn calls(now: &[SyscallCount], before: &[SyscallCount]) -> Vec<SyscallCount> {
    let known: BTreeMap<CallKey<'_>, &SyscallCount> =
        before.iter().map(|count| (call_key(count), count)).collect();
    let folded = if now.iter().any(|count| count.tid.is_none()) { folded(before) } else { BTreeMap::new() };
    let passed = now.iter().map(|count| {
        let had = match count.tid {
            Some(_) => known.get(&call_key(count)).copied(),
            None => folded.get(&folded_key(count)),
        };
        had.map_or_else(|| count.clone(), |before| call(count, before))
    });
    passed.filter(|count| count.calls > 0).collect()
}

type FoldedKey<'a> = (Option<u32>, Option<&'a str>, &'a str);

fn folded_key(count: &SyscallCount) -> FoldedKey<'_> {
    (count.pid, count.thread.as_deref(), &count.call)
}

/// Merges threads of a process that have the same name, as a probe does if there are too many threads to list.
fn folded(counts: &[SyscallCount]) -> BTreeMap<FoldedKey<'_>, SyscallCount> {
    let mut all: BTreeMap<FoldedKey<'_>, SyscallCount> = BTreeMap::new();
    for count in counts {
        all.entry(folded_key(count))
            .and_modify(|known| syscalls::add(known, count))
            .or_insert_with(|| count.clone());
    }
    all
}

fn call(now: &SyscallCount, before: &SyscallCount) -> SyscallCount {
    let time = |now: Option<Nanos>, before: Option<Nanos>| Some(less(now?, before.unwrap_or_default()));
    let bytes = |now: Bytes| Bytes(now.0.saturating_sub(before.bytes.unwrap_or_default().0));
    let places = now.times.0.iter().enumerate();
    let times = places
        .map(|(place, count)| count.saturating_sub(before.times.0.get(place).copied().unwrap_or_default()));
    SyscallCount {
        calls: now.calls.saturating_sub(before.calls),
        errors: now.errors.map(|errors| errors.saturating_sub(before.errors.unwrap_or_default())),
        total: time(now.total, before.total),
        running: time(now.running, before.running),
        waiting: time(now.waiting, before.waiting),
        guest: time(now.guest, before.guest),
        bytes: now.bytes.map(bytes),
        times: CallTimes(times.collect()),
        ..now.clone()
    }
}

fn overflowed(now: &[Overflow], before: &[Overflow]) -> Vec<Overflow> {
    let had = |probe| before.iter().find(|it| it.probe == probe).map_or(0, |it| it.events);
    let passed = |it: &Overflow| Overflow { events: it.events.saturating_sub(had(it.probe)), ..*it };
    now.iter().map(passed).filter(|it| it.events > 0).collect()
}

type ShareKey<'a> = (CpuConsumer, Option<&'a str>, Option<&'a str>, Option<u32>);

fn share_key(share: &ConsumerShare) -> ShareKey<'_> {
    (share.consumer, share.process.as_deref(), share.thread.as_deref(), share.cpu)
}

fn cpu(now: &AttributedCpu, before: &AttributedCpu) -> AttributedCpu {
    let mut had: BTreeMap<ShareKey<'_>, Nanos> = BTreeMap::new();
    for share in &before.shares {
        let time = had.entry(share_key(share)).or_default();
        *time = *time + share.time;
    }
    // Names are not unique. Rows with the same name share the time in the earlier reading.
    let shares = now.shares.iter().map(|share| {
        let had = had.get_mut(&share_key(share));
        let taken = had.map_or(Nanos(0), |had| {
            let taken = share.time.min(*had);
            *had = less(*had, taken);
            taken
        });
        ConsumerShare { time: less(share.time, taken), ..share.clone() }
    });
    AttributedCpu {
        source: now.source,
        reason: now.reason.clone(),
        elapsed: less(now.elapsed, before.elapsed),
        cpus: now.cpus,
        busy: less(now.busy, before.busy),
        steal: less(now.steal, before.steal),
        shares: shares.filter(|share| share.time.0 > 0).collect(),
    }
}

fn less(now: Nanos, before: Nanos) -> Nanos {
    Nanos(now.0.saturating_sub(before.0))
}
