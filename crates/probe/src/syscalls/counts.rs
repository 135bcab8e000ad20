//! Converts slots to counts, and adds thread and process names and the role (client or server). Performs no
//! I/O.

use std::collections::HashMap;

use protocol::Subject;
use samples::{CallTimes, CpuConsumer, SyscallCount};
use units::{Bytes, Nanos};

use super::{
    names::{name, returns_anything, returns_bytes},
    slot::Slot,
};

pub(super) struct Counts {
    pub(super) ended: Vec<SyscallCount>,
    pub(super) under_way: Vec<SyscallCount>,
}

pub(super) fn counts(ended: &[Slot], under_way: &[Slot], subjects: &[Subject]) -> Counts {
    let all: Vec<&Slot> = ended.iter().chain(under_way).collect();
    let (threads, processes) = (thread_names(&all), process_names(&all));
    let named = |slot: &Slot| SyscallCount {
        end: end(subjects, slot.subject).map(str::to_owned),
        thread: threads.get(&slot.thread).map(|slot| slot.comm.clone()),
        process: processes.get(&slot.tgid).map(|(_, name)| (*name).to_owned()),
        ..numbers(slot)
    };
    let sorted = |slots: &[Slot]| {
        let mut counts: Vec<SyscallCount> = slots.iter().map(named).collect();
        counts.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| (a.tid, &a.call).cmp(&(b.tid, &b.call))));
        counts
    };
    Counts { ended: sorted(ended), under_way: sorted(under_way) }
}

fn numbers(slot: &Slot) -> SyscallCount {
    let call = name(slot.number);
    // A call in progress may end while the slot is being read.
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
    match subject.consumer {
        CpuConsumer::Client | CpuConsumer::ClientVm => Some("client"),
        CpuConsumer::Server | CpuConsumer::ServerVm => Some("server"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(tid: u32, number: u32, seen: u64, comm: &str) -> Slot {
        Slot {
            calls: 1,
            errors: 0,
            total: seen,
            waiting: 3,
            guest: 0,
            returned: 64,
            seen,
            tid,
            tgid: 10,
            number,
            subject: 2,
            thread: tid,
            comm: comm.to_owned(),
            process: "old".to_owned(),
            epoch: 1,
            times: vec![1],
        }
    }

    fn subject(consumer: CpuConsumer) -> Subject {
        Subject::of(consumer, vec![], true)
    }

    #[test]
    fn uses_latest_names_of_threads_and_processes() {
        let ended = [slot(10, 0, 100, "sh"), slot(10, 1, 300, "qemu"), slot(11, 0, 200, "qemu")];
        let under_way = [Slot { calls: 0, ..slot(11, 16, 400, "CPU 0/KVM") }];
        let counts =
            counts(&ended, &under_way, &[subject(CpuConsumer::Plumb), subject(CpuConsumer::ServerVm)]);
        let names: Vec<_> = counts.ended.iter().map(|one| (one.tid, one.thread.as_deref())).collect();
        assert_eq!(
            names,
            [(Some(10), Some("qemu")), (Some(11), Some("CPU 0/KVM")), (Some(10), Some("qemu"))]
        );
        for one in counts.ended.iter().chain(&counts.under_way) {
            assert_eq!((one.process.as_deref(), one.end.as_deref()), (Some("qemu"), Some("server")));
        }
        assert_eq!(counts.under_way[0].calls, 0);
    }

    #[test]
    fn assigns_bytes_and_times_by_call() {
        let read = numbers(&Slot { guest: 10, ..slot(1, syscalls::Sysno::read as u32, 100, "a") });
        assert_eq!((read.bytes, read.running), (Some(Bytes(64)), Some(Nanos(87))));
        assert_eq!((read.waiting, read.guest), (Some(Nanos(3)), Some(Nanos(10))));
        let ioctl = numbers(&slot(1, syscalls::Sysno::ioctl as u32, 2, "a"));
        assert_eq!((ioctl.bytes, ioctl.running, ioctl.guest), (None, Some(Nanos(0)), None));
    }
}
