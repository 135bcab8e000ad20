//! From slots to counts of calls, with the names of threads and processes and whose they are. No I/O.

use std::collections::{HashMap, HashSet};

use samples::{CallTimes, Owner, SyscallCount};
use units::{Bytes, Nanos};

use super::{
    names::{name, returns_anything, returns_bytes},
    slot::Slot,
};
use crate::observe::Subject;

/// One count a thread and call, those that took longest first. A call under way has a count (of none, with its time so
/// far) only where its thread has ended no other of that kind.
pub(super) fn counts(ended: &[Slot], under_way: &[Slot], subjects: &[Subject]) -> Vec<SyscallCount> {
    let all: Vec<&Slot> = ended.iter().chain(under_way).collect();
    let (threads, processes) = (thread_names(&all), process_names(&all));
    let known: HashSet<_> = ended.iter().map(|slot| (slot.thread, slot.number)).collect();
    let is_new = |slot: &&Slot| !known.contains(&(slot.thread, slot.number));
    let told = ended.iter().filter(|slot| slot.calls > 0).chain(under_way.iter().filter(is_new));
    let mut counts: Vec<SyscallCount> = told
        .map(|slot| SyscallCount {
            end: end(subjects, slot.subject).map(str::to_owned),
            thread: threads.get(&slot.thread).map(|slot| slot.comm.clone()),
            process: processes.get(&slot.tgid).map(|(_, name)| (*name).to_owned()),
            ..numbers(slot)
        })
        .collect();
    counts.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| (a.tid, &a.call).cmp(&(b.tid, &b.call))));
    counts
}

/// Without the names.
fn numbers(slot: &Slot) -> SyscallCount {
    let call = name(slot.number);
    // A call under way may end while it is read.
    let guest = slot.guest.min(slot.total);
    let waiting = slot.waiting.min(slot.total - guest);
    SyscallCount {
        pid: Some(slot.tgid),
        tid: Some(slot.tid),
        calls: slot.calls,
        errors: Some(if returns_anything(&call) { 0 } else { slot.errors }),
        total: Some(Nanos(slot.total)),
        running: Some(Nanos(slot.total - waiting - guest)),
        waiting: Some(Nanos(waiting)),
        guest: (guest > 0).then_some(Nanos(guest)),
        bytes: returns_bytes(&call).then_some(Bytes(slot.returned)),
        times: CallTimes(slot.times.clone()),
        call,
        ..SyscallCount::default()
    }
}

/// The last slot that each thread was seen with: it has the thread's name of then.
fn thread_names<'a>(slots: &[&'a Slot]) -> HashMap<u32, &'a Slot> {
    let mut latest: HashMap<u32, &'a Slot> = HashMap::new();
    for slot in slots {
        let known = latest.entry(slot.thread).or_insert(slot);
        if slot.seen > known.seen {
            *known = slot;
        }
    }
    latest
}

/// The name of each process: that of its first thread when it was last seen, else what another thread saw last.
fn process_names<'a>(slots: &[&'a Slot]) -> HashMap<u32, ((bool, u64), &'a str)> {
    let mut names = HashMap::new();
    for slot in slots {
        let leads = slot.tid == slot.tgid;
        let rank = (leads, slot.seen);
        let name = if leads { slot.comm.as_str() } else { slot.process.as_str() };
        let known = names.entry(slot.tgid).or_insert((rank, name));
        if rank > known.0 {
            *known = (rank, name);
        }
    }
    names
}

fn end(subjects: &[Subject], place: u32) -> Option<&'static str> {
    let subject = subjects.get(usize::try_from(place).ok()?.checked_sub(1)?)?;
    match subject.owner {
        Owner::Client | Owner::ClientVm => Some("client"),
        Owner::Server | Owner::ServerVm => Some("server"),
        _ => None,
    }
}
