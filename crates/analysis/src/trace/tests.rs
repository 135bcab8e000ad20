//! Hand-written traces and the expected output for each.

use findings::TracedCall;
use samples::{
    AttributedCpu, AttributionSource, CallTimes, ConsumerShare, CpuConsumer, Environment, Overflow,
    ProbeKind, ProbeResults, SyscallCount, TRACE_SCHEMA, TargetKind, Trace, TraceEnd, TraceTarget,
    UnixMillis,
};
use units::{Bytes, Nanos};

use super::{CallGrouping, observed_since, trace, trace_comparison};

fn count(tid: u32, thread: &str, call: &str, calls: u64, (running, waiting): (u64, u64)) -> SyscallCount {
    SyscallCount {
        process: Some("server".into()),
        thread: Some(thread.into()),
        pid: Some(1),
        tid: Some(tid),
        call: call.into(),
        calls,
        total: Some(Nanos(running + waiting)),
        running: Some(Nanos(running)),
        waiting: Some(Nanos(waiting)),
        times: CallTimes(vec![0, 0, calls]),
        ..SyscallCount::default()
    }
}

fn share(consumer: CpuConsumer, millis: u64) -> ConsumerShare {
    ConsumerShare { consumer, process: None, thread: None, cpu: None, time: Nanos::from_millis(millis) }
}

fn made(seconds: u64, syscalls: Vec<SyscallCount>) -> Trace {
    let elapsed = Nanos::from_secs(seconds);
    let cpu = AttributedCpu {
        source: AttributionSource::Traced,
        reason: None,
        elapsed,
        cpus: 2,
        busy: Nanos::from_millis(1000 * seconds),
        steal: Nanos(0),
        shares: vec![share(CpuConsumer::Softirq, 300 * seconds), share(CpuConsumer::Client, 600 * seconds)],
    };
    Trace {
        schema: TRACE_SCHEMA,
        tool: "0.1.0".into(),
        started: UnixMillis(0),
        target: TraceTarget { kind: TargetKind::Processes, name: "1".into(), processes: Vec::new() },
        ended: TraceEnd::TimeOver,
        environment: Environment { cpus: 2, ..Environment::default() },
        probes: vec![ProbeKind::Syscalls],
        missing: Vec::new(),
        observed: ProbeResults { elapsed, cpu: Some(cpu), syscalls, ..ProbeResults::default() },
        devices: Vec::new(),
        softnet: None,
    }
}

fn sample(seconds: u64) -> Trace {
    made(
        seconds,
        vec![
            count(11, "rx", "recvfrom", 1000 * seconds, (1_000_000, 7_000_000)),
            count(12, "rx", "recvfrom", 1000 * seconds, (1_000_000, 1_000_000)),
            SyscallCount {
                bytes: Some(Bytes(64)),
                ..count(11, "rx", "sendto", 500 * seconds, (2_000_000, 0))
            },
        ],
    )
}

fn row(call: &TracedCall) -> (&str, u64, f64, Option<u64>) {
    let share = call.share.map(|share| (share * 1000.0).round() as u64);
    (&call.count.call, call.count.calls, call.rate, share)
}

#[test]
fn sums_calls_by_the_selected_grouping() {
    let summary = trace(&sample(2), CallGrouping::Process);
    let all: Vec<_> = summary.calls.iter().map(row).collect();
    assert_eq!(all, [("recvfrom", 4000, 2000.0, Some(833)), ("sendto", 1000, 500.0, Some(167))]);
    let first = &summary.calls[0];
    assert_eq!((first.threads, first.per_call, first.p99_below), (2, Some(Nanos(2500)), Some(Nanos(8))));
    assert_eq!(first.count.waiting, Some(Nanos(8_000_000)));
    let by_thread = trace(&sample(2), CallGrouping::Thread).calls;
    assert_eq!(by_thread.len(), 3, "threads with equal names have separate rows");
    let threads: Vec<_> =
        summary.threads.iter().map(|thread| (thread.count.tid, thread.count.calls)).collect();
    assert_eq!(threads, [(Some(11), 3000), (Some(12), 2000)], "by their time running");
    assert_eq!(summary.all.map(|all| all.count.calls), Some(5000));
}

#[test]
fn reports_owners_time_and_busy_time() {
    let cpu = trace(&sample(2), CallGrouping::Call).cpu.expect("it was watched");
    assert!((cpu.explained - 0.9).abs() < 1e-9 && cpu.busy == Some(1.0), "{cpu:?}");
    assert_eq!(cpu.shares[0].consumer, CpuConsumer::Client);
    let mut short = made(1, Vec::new());
    short.observed.cpu.as_mut().expect("it was watched").elapsed = Nanos::from_millis(20);
    assert_eq!(trace(&short, CallGrouping::Call).cpu.and_then(|cpu| cpu.busy), None, "two ticks are too few");
}

#[test]
fn compares_traces_of_different_length_by_rates() {
    let (mut short, mut long) = (sample(1), sample(4));
    long.environment.cpus = 4;
    long.observed.syscalls.push(count(11, "rx", "futex", 10, (0, 1)));
    short.observed.syscalls.push(count(11, "rx", "read", 10, (1, 0)));
    let comparison = trace_comparison(&short, &long);
    let of = |name: &str| comparison.calls.iter().find(|call| call.call == name).expect("in either");
    assert_eq!(of("recvfrom").rate_ratio, Some(1.0));
    assert_eq!(of("recvfrom").per_call_ratio, Some(0.25));
    assert!(of("futex").a.is_none() && of("futex").rate_ratio.is_none() && of("read").b.is_none());
    assert!(comparison.environment_changes.iter().any(|change| change.property == "CPUs" && change.b == "4"));
    assert_eq!(comparison.consumers[0].ratio, Some(1.0));
}

#[test]
fn interval_contains_only_its_own_counts() {
    let (before, mut now) = (sample(1).observed, sample(3).observed);
    now.syscalls[1].calls = 1000;
    now.syscalls[1].total = before.syscalls[1].total;
    let passed = observed_since(&now, &before);
    assert_eq!(passed.elapsed, Nanos::from_secs(2));
    let calls: Vec<_> =
        passed.syscalls.iter().map(|count| (count.tid, count.call.as_str(), count.calls)).collect();
    assert_eq!(calls, [(Some(11), "recvfrom", 2000), (Some(11), "sendto", 1000)]);
    let cpu = passed.cpu.expect("it was watched");
    assert_eq!((cpu.busy, cpu.shares[0].time), (Nanos::from_secs(2), Nanos::from_millis(600)));
    assert_eq!(observed_since(&now, &now).syscalls, Vec::new());
}

#[test]
fn does_not_repeat_earlier_overflows() {
    let lost = |events| ProbeResults {
        overflowed: vec![Overflow { probe: ProbeKind::Syscalls, events }],
        ..ProbeResults::default()
    };
    assert_eq!(observed_since(&lost(7), &lost(5)).overflowed, lost(2).overflowed);
    assert_eq!(observed_since(&lost(7), &lost(7)).overflowed, []);
}

#[test]
fn subtracts_earlier_counts_of_merged_threads() {
    let observed = |syscalls| ProbeResults { syscalls, ..ProbeResults::default() };
    let before = observed(vec![
        count(11, "pool", "read", 100, (10, 0)),
        count(12, "pool", "read", 50, (5, 0)),
        count(13, "other", "read", 7, (1, 0)),
    ]);
    let folded = SyscallCount { tid: None, ..count(0, "pool", "read", 170, (20, 0)) };
    let passed = observed_since(&observed(vec![folded]), &before);
    assert_eq!((passed.syscalls[0].calls, passed.syscalls[0].total), (20, Some(Nanos(5))));
}

#[test]
fn empty_trace_has_no_rows_or_rates() {
    let unfinished = count(1, "x", "exit_group", 0, (5, 5));
    let summary = trace(&made(0, vec![unfinished]), CallGrouping::Thread);
    assert!(summary.calls.is_empty() && summary.threads.is_empty() && summary.all.is_none());
}
