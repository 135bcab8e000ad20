//! What takes another number of slots than the usual one. The rest is tested from outside, in tests/syscalls.

use samples::CpuOwner;

use super::*;

/// `None` where the machine has no eBPF.
fn with_room_for(slots: u32) -> Option<Syscalls> {
    match Syscalls::new(slots) {
        Ok(probe) => Some(probe),
        Err(ProbeError::Unavailable { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

fn own_process() -> Watch {
    let subject = Subject {
        owner: CpuOwner::Client,
        pids: vec![std::process::id()],
        namespaces: vec![],
        cgroups: vec![],
        syscalls: true,
    };
    Watch { subjects: vec![subject], way: None }
}

#[test]
fn calls_that_find_no_room_are_told_as_missing() {
    let Some(mut probe) = with_room_for(3) else { return };
    probe.start(&own_process()).expect("it was loaded");
    let kinds: [fn(); 4] = [
        || drop(std::env::current_dir()),
        || drop(std::fs::metadata("/")),
        || drop(std::fs::read_link("/proc/self")),
        || drop(std::fs::read_dir("/no/such/folder")),
    ];
    for _ in 0..100 {
        kinds.iter().for_each(|call| call());
    }
    probe.stop();
    let mut seen = ProbeResults::default();
    probe.read(&mut seen).expect("it can be read");
    let counted: u64 = seen.syscalls.iter().map(|count| count.calls).sum();
    let missing: u64 = seen.overflowed.iter().map(|overflow| overflow.events).sum();
    let counts = seen.syscalls.iter().filter(|count| count.calls > 0).count();
    assert!(counts <= 3, "{:#?}", seen.syscalls);
    assert!(missing >= 100 && counted + missing >= 400, "{counted} and {missing}");
}

#[test]
fn enough_room_misses_nothing() {
    let Some(mut probe) = with_room_for(4096) else { return };
    probe.start(&own_process()).expect("it was loaded");
    for _ in 0..100 {
        drop(std::env::current_dir());
    }
    probe.stop();
    let mut seen = ProbeResults::default();
    probe.read(&mut seen).expect("it can be read");
    let of = |call: &str| {
        seen.syscalls.iter().filter(|count| count.call == call).map(|count| count.calls).sum::<u64>()
    };
    assert!(of("getcwd") >= 100, "{:#?}", seen.syscalls);
    assert!(seen.overflowed.is_empty(), "{:?}", seen.overflowed);
}
