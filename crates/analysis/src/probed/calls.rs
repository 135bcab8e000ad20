//! System calls per message, megabyte or connection.

use findings::{CallRates, EndCalls, ProcessCalls};
use samples::{ProbeKind, ProbeResults, SyscallCount};

use super::{ProbedTrial, volume};
use crate::syscalls::add;

pub(super) fn rates(
    probes: &[ProbeKind],
    watched: &[ProbedTrial<'_>],
    syscalls: &[SyscallCount],
) -> Option<CallRates> {
    let counted = watched.iter().filter(|(_, seen)| !seen.syscalls.is_empty() || is_counted(probes, seen));
    let (work, carried) = volume::together(counted.map(|(trial, _)| *trial))?;
    let carried = carried / work.for_calls().0;
    let mut ends: Vec<EndCalls> = Vec::new();
    for count in syscalls {
        match ends.iter_mut().find(|known| known.end == count.end) {
            Some(known) => {
                known.calls = known.calls.saturating_add(count.calls);
                known.process.take_if(|process| count.process.as_ref() != Some(process));
            }
            None => ends.push(EndCalls {
                end: count.end.clone(),
                process: count.process.clone(),
                calls: count.calls,
                rate: 0.0,
            }),
        }
    }
    ends.sort_by(|one, other| one.end.cmp(&other.end));
    ends.iter_mut().for_each(|end| end.rate = end.calls as f64 / carried);
    let each = syscalls.iter().map(|count| count.calls as f64 / carried).collect();
    let all = syscalls.iter().map(|count| count.calls as f64).sum::<f64>() / carried;
    let processes = processes(syscalls, &ends, carried);
    Some(CallRates { work, carried, each, ends, all, processes })
}

fn processes(syscalls: &[SyscallCount], ends: &[EndCalls], carried: f64) -> Vec<ProcessCalls> {
    let mut all: Vec<ProcessCalls> = Vec::new();
    for count in syscalls {
        let same = |known: &&mut ProcessCalls| {
            let known = &known.count;
            (&known.end, &known.process, &known.call) == (&count.end, &count.process, &count.call)
        };
        match all.iter_mut().find(same) {
            Some(known) => {
                add(&mut known.count, count);
                (known.count.thread, known.threads) = (None, known.threads + 1);
            }
            None => all.push(ProcessCalls { count: count.clone(), threads: 1, share: 0.0, rate: 0.0 }),
        }
    }
    for known in &mut all {
        let of_end = ends.iter().find(|end| end.end == known.count.end).map_or(0, |end| end.calls);
        known.share = known.count.calls as f64 / of_end.max(1) as f64;
        known.rate = known.count.calls as f64 / carried;
    }
    all.sort_by(|one, other| {
        one.count.end.cmp(&other.count.end).then(other.count.calls.cmp(&one.count.calls))
    });
    all
}

fn is_counted(probes: &[ProbeKind], seen: &ProbeResults) -> bool {
    let has_failed = seen.failed.iter().any(|failed| failed.probe == ProbeKind::Syscalls);
    let is_full = seen.overflowed.iter().any(|overflow| overflow.probe == ProbeKind::Syscalls);
    probes.contains(&ProbeKind::Syscalls) && !has_failed && !is_full
}
