//! Tests that need an unusual number of slots. All others are in tests/syscalls.

use samples::CpuConsumer;

use super::*;

fn with_room_for(slots: u32) -> Option<Syscalls> {
    match Syscalls::new(slots) {
        Ok(probe) => Some(probe),
        Err(ProbeError::Unavailable { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

fn own_process() -> Watch {
    let subject = Subject {
        consumer: CpuConsumer::Client,
        pids: vec![std::process::id()],
        namespaces: vec![],
        cgroups: vec![],
        syscalls: true,
    };
    Watch { subjects: vec![subject], latency_breakdown: None }
}

#[test]
fn reports_calls_without_room() {
    let Some(mut probe) = with_room_for(3) else { return };
    probe.start(&own_process()).expect("loaded");
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
    let mut results = ProbeResults::default();
    probe.read(&mut results).expect("readable");
    let counted: u64 = results.syscalls.iter().map(|count| count.calls).sum();
    let missing: u64 = results.overflowed.iter().map(|overflow| overflow.events).sum();
    let counts = results.syscalls.iter().filter(|count| count.calls > 0).count();
    assert!(counts <= 3, "{:#?}", results.syscalls);
    assert!(missing >= 100 && counted + missing >= 400, "{counted} and {missing}");
}

#[test]
fn misses_nothing_with_enough_room() {
    let Some(mut probe) = with_room_for(4096) else { return };
    probe.start(&own_process()).expect("loaded");
    for _ in 0..100 {
        drop(std::env::current_dir());
    }
    probe.stop();
    let mut results = ProbeResults::default();
    probe.read(&mut results).expect("readable");
    let of = |call: &str| {
        results.syscalls.iter().filter(|count| count.call == call).map(|count| count.calls).sum::<u64>()
    };
    assert!(of("getcwd") >= 100, "{:#?}", results.syscalls);
    assert!(results.overflowed.is_empty(), "{:?}", results.overflowed);
}
