//! Hand-written traces and the output expected for them.

use findings::{TraceSummary, TracedCall, TracedCpu, TracedShare};
use samples::{
    AttributionSource, CpuConsumer, DeviceCounters, MissingProbe, Overflow, ProbeKind, SyscallCount,
    TargetKind, TraceEnd, TraceTarget, TracedProcess, UnixMillis,
};
use units::{Bytes, Nanos};

use crate::{Options, SingleFormat, render_trace};

fn call(
    process: &str,
    thread: (&str, u32),
    call: &str,
    (calls, running, waiting): (u64, u64, u64),
) -> TracedCall {
    let total = Nanos(running + waiting);
    let count = SyscallCount {
        process: Some(process.into()),
        thread: Some(thread.0.into()),
        pid: Some(10),
        tid: Some(thread.1),
        call: call.into(),
        calls,
        errors: Some(0),
        total: Some(total),
        running: Some(Nanos(running)),
        waiting: Some(Nanos(waiting)),
        ..SyscallCount::default()
    };
    let per_call = Some(Nanos(total.0 / calls));
    TracedCall { count, threads: 1, rate: calls as f64 / 2.0, share: Some(0.5), per_call, p99_below: None }
}

fn share(consumer: CpuConsumer, thread: &str, cpus: f64) -> TracedShare {
    let thread = Some(thread.to_owned());
    TracedShare { consumer, process: None, thread, cpu: None, time: Nanos((cpus * 2e9) as u64), cpus }
}

fn machine() -> TraceSummary {
    let calls = vec![
        call("qemu", ("CPU 0/KVM", 11), "ioctl", (1000, 2_000_000, 0)),
        call("qemu", ("qemu", 10), "ppoll", (30_000, 1_000_000, 1_900_000_000)),
    ];
    let cpu = TracedCpu {
        source: AttributionSource::Traced,
        reason: None,
        shares: vec![
            share(CpuConsumer::Other, "rustc", 0.9),
            share(CpuConsumer::ClientVm, "CPU 0/KVM", 0.6),
            share(CpuConsumer::Vhost, "vhost-10", 0.3),
        ],
        explained: 1.8,
        busy: Some(1.79),
        steal: 0.0,
    };
    TraceSummary {
        target: TraceTarget {
            kind: TargetKind::Qemu,
            name: "web".into(),
            processes: vec![TracedProcess { pid: 10, name: "qemu".into() }],
        },
        started: UnixMillis(0),
        elapsed: Nanos::from_secs(2),
        ended: Some(TraceEnd::TargetEnded { status: None }),
        cpus: 2,
        threads: calls.clone(),
        all: calls.first().cloned(),
        under_way: Vec::new(),
        calls,
        ptrace: None,
        cpu: Some(cpu),
        devices: Vec::new(),
        softnet: None,
        overflowed: Vec::new(),
        missing: Vec::new(),
    }
}

fn page(trace: &TraceSummary, top: usize) -> String {
    render_trace(trace, top, SingleFormat::Terminal, &Options::default())
}

fn check(page: &str, parts: &[&str]) {
    let mut rest = page;
    for part in parts {
        let place = rest.find(part).unwrap_or_else(|| panic!("no `{part}` after the last in:\n{page}"));
        rest = &rest[place + part.len()..];
    }
}

#[test]
fn shows_threads_of_a_machine_by_name_and_owner() {
    let page = page(&machine(), 12);
    check(&page, &["virtual machine web (QEMU, process 10)", "It exited during the trace", "System calls"]);
    check(&page, &["CPU 0/KVM", "ioctl", "qemu", "ppoll", "30,000", "15.0 k", "CPU 0/KVM (11)"]);
    check(&page, &["vCPUs", "CPU 0/KVM", "vhost", "vhost-10", "other processes", "rustc", "unexplained"]);
    assert!(page.contains("−0.010"), "owners had more than was busy:\n{page}");
}

#[test]
fn explains_inexact_cpu_attribution() {
    let mut sampled = machine();
    let cpu = sampled.cpu.as_mut().expect("it has owners");
    (cpu.source, cpu.reason) = (AttributionSource::Sampled, Some("the kernel has no BTF".into()));
    let page = page(&sampled, 12).split_whitespace().collect::<Vec<_>>().join(" ");
    check(&page, &["from /proc: softirqs", "Not traced exactly: the kernel has no BTF."]);
}

#[test]
fn omits_uninformative_columns() {
    let page = page(&machine(), 12);
    for absent in ["Bytes", "In guest", "Process  Call", "Slow or failing"] {
        assert!(!page.contains(absent), "{absent} in:\n{page}");
    }
    let mut moved = machine();
    moved.calls[0].count.bytes = Some(Bytes(4096));
    moved.calls[1].count.errors = Some(3);
    moved.calls[1].count.guest = Some(Nanos(5));
    check(&self::page(&moved, 12), &["In guest", "Bytes", "4.00 KiB"]);
    let full = render_trace(&moved, 12, SingleFormat::Markdown, &Options::default());
    check(&full, &["Slow or failing", "Failed", "ppoll", "3"]);
}

#[test]
fn shows_unfinished_call_with_elapsed_time() {
    assert!(!page(&machine(), 12).contains("Unfinished calls"));
    let mut asleep = machine();
    asleep.under_way = asleep.calls.iter().map(|call| call.count.clone()).collect();
    asleep.under_way[1].calls = 3;
    check(
        &page(&asleep, 12),
        &["Unfinished calls", "Calls", "qemu, CPU 0/KVM", "ioctl", "qemu", "ppoll", "3"],
    );
    check(&page(&asleep, 1), &["Unfinished calls", "ioctl", "and 1 more call"]);
}

#[test]
fn counts_omitted_rows() {
    let page = page(&machine(), 1);
    check(&page, &["ioctl", "and 1 more row (--top 2 shows all)", "Threads", "and 1 more thread (--top 2"]);
}

#[test]
fn conclusion_names_cpu_users_and_longest_calls() {
    let mut waiting = machine();
    waiting.calls[1].share = Some(0.999);
    waiting.all = Some(waiting.calls[1].clone());
    let page = page(&waiting, 12).split_whitespace().collect::<Vec<_>>().join(" ");
    check(&page, &["Most CPU time: rustc (other processes), 0.90 of 2 CPUs."]);
    check(&page, &["Longest system call: ppoll of qemu, 99.9 % of the time in calls."]);
    check(&page, &["Waiting: 99.9 % of the time in calls."]);
}

#[test]
fn short_trace_shows_counts_instead_of_rates() {
    let mut brief = machine();
    let device = DeviceCounters {
        device: "lo".into(),
        rx_packets: 1234,
        rx_bytes: Bytes(1 << 20),
        ..DeviceCounters::default()
    };
    brief.devices = vec![device];
    check(&page(&brief, 12), &["Calls/s", "Packets/s in", "lo", "617", "4.19 Mbit/s"]);
    brief.elapsed = Nanos::from_millis(2);
    let page = page(&brief, 12);
    check(&page, &["Packets in", "lo", "1,234", "1.00 MiB", "2.00 ms is too short"]);
    assert!(!page.contains("Calls/s") && !page.contains("bit/s"), "{page}");
}

#[test]
fn shows_missing_thread_name() {
    let mut nameless = machine();
    nameless.cpu.as_mut().expect("it has owners").shares[1].thread = Some(String::new());
    check(&page(&nameless, 12), &["vCPUs", "name unknown"]);
}

#[test]
fn missing_data_comes_before_values() {
    let mut blind = machine();
    let reason = "the kernel has no BTF; use one with CONFIG_DEBUG_INFO_BTF".to_owned();
    blind.missing = vec![MissingProbe { probe: ProbeKind::Cpu, reason }];
    blind.overflowed = vec![Overflow { probe: ProbeKind::Syscalls, events: 1234 }];
    blind.cpu = None;
    let page = page(&blind, 12);
    check(
        &page,
        &["Probe cpu not available: the kernel has no BTF", "out of space for 1,234 events", "System calls"],
    );
    assert!(!page.contains("CPU time"), "{page}");
}
