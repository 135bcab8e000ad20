//! Tests the analysis of probe data with hand-written records.

use findings::{Findings, GuestTime, Leg, ResultSummary, StepKind};
use samples::{
    Arm, AttributedCpu, AttributionSource, CallTimes, ConsumerShare, CpuConsumer, DeviceState, GuestCpu,
    HopEvent, HopPoint, HopStep, HostCounters, MachineCpu, MessagePath, MissingProbe, PathCounters,
    ProbeKind, SyscallCount, ValidityWarning,
};
use units::Nanos;
use workload::{LatencyHistogram, Measurement, Work};

use crate::{
    analyse,
    fixtures::{Fixture, ping_of, stream_of},
};

const BULK: &str = "plain/bulk";
const PING: &str = "plain/ping";

fn run(blocks: u32) -> Fixture {
    let mut run = Fixture::new(blocks);
    run.path("plain", &["wire"]).stream("plain", &[], 8e9).ping("plain", &[], 20_000.0);
    run.probed(BULK).probed(PING);
    run
}

fn result<'a>(findings: &'a Findings, id: &str) -> &'a ResultSummary {
    findings.results.iter().find(|result| result.id == id).expect("a measured result")
}

fn near(value: f64, wanted: f64) -> bool {
    (value - wanted).abs() < 1e-6 * wanted.abs().max(1.0)
}

#[test]
fn probed_trials_do_not_affect_the_result() {
    let mut plain = Fixture::new(6);
    plain.path("plain", &["wire"]).stream("plain", &[], 8e9).ping("plain", &[], 20_000.0);
    let without = analyse(&plain.record);
    let mut probed = run(6);
    for trial in probed.record.trials.iter_mut().filter(|trial| trial.arm == Arm::Probed) {
        let is_stream = trial.result == BULK;
        trial.measurement = if is_stream { stream_of(1e9) } else { ping_of(90_000.0) };
        trial.warnings.push(ValidityWarning::Stolen { share: 0.5 });
        trial.cpu.machine.steal = trial.cpu.machine.elapsed;
        trial.path_check.mtu = Some(576);
        trial.devices.push(DeviceState {
            device: "a:eth0".into(),
            kind: "veth".into(),
            mtu: 576,
            features: Default::default(),
            ..DeviceState::default()
        });
        trial.observed = None;
    }
    let with = analyse(&probed.record);
    let others = |findings: &Findings| -> Vec<String> {
        let ids = findings.findings.iter().map(|claim| claim.id.clone());
        ids.filter(|id| id != "probe-cost").collect()
    };
    assert_eq!(others(&with), others(&without));
    assert_eq!((with.results, with.noise, with.effects), (without.results, without.noise, without.effects));
    assert_eq!((with.cost_breakdowns, with.limitations), (without.cost_breakdowns, without.limitations));
}

#[test]
fn result_with_only_probed_trials_is_not_measured() {
    let mut run = run(3);
    run.record.trials.retain(|trial| trial.arm == Arm::Probed || trial.result == PING);
    let findings = analyse(&run.record);
    assert_eq!(findings.results.iter().map(|result| result.id.as_str()).collect::<Vec<_>>(), [PING]);
}

#[test]
fn names_probed_trials_without_a_value() {
    let mut run = run(6);
    run.each(BULK, |trial| {
        if trial.arm == Arm::Probed && trial.block < 2 {
            trial.measurement = ping_of(1.0);
        }
    });
    let findings = analyse(&run.record);
    let [limitation] = findings.limitations.as_slice() else { panic!("{:#?}", findings.limitations) };
    assert!(limitation.contains("2 probed trials of plain/bulk"), "{limitation}");
    let probed = result(&findings, BULK).probed.as_ref().expect("four remain");
    assert_eq!(probed.trials, 4);
}

fn attributed(busy: u64, shares: &[(CpuConsumer, Option<u32>, u64)]) -> AttributedCpu {
    let share = |&(consumer, cpu, millis): &(CpuConsumer, Option<u32>, u64)| ConsumerShare {
        consumer,
        process: None,
        thread: None,
        cpu,
        time: Nanos::from_millis(millis),
    };
    AttributedCpu {
        source: AttributionSource::Traced,
        reason: None,
        elapsed: Nanos::from_secs(2),
        cpus: 2,
        busy: Nanos::from_millis(busy),
        steal: Nanos::from_millis(20),
        shares: shares.iter().map(share).collect(),
    }
}

#[test]
fn owners_and_remainder_add_up_to_busy_time() {
    let mut run = run(4);
    run.seen(BULK, |block, seen| {
        let client = if block == 3 { 1000 } else { 200 };
        let shares = [
            (CpuConsumer::Softirq, Some(0), 300),
            (CpuConsumer::Softirq, Some(1), 100),
            (CpuConsumer::Client, None, client),
        ];
        seen.cpu = Some(attributed(client + 500, &shares));
    });
    let findings = analyse(&run.record);
    let cpu =
        result(&findings, BULK).probed.as_ref().and_then(|probed| probed.cpu.as_ref()).expect("it is known");
    let sum: f64 = cpu.consumers.iter().map(|consumer| consumer.cpus).sum();
    assert!(near(sum + cpu.unexplained, cpu.busy) && near(sum, cpu.attributed), "{cpu:?}");
    assert_eq!(cpu.consumers[0].consumer, CpuConsumer::Client);
    assert!(near(cpu.consumers[0].cpus, 0.2) && near(cpu.unexplained, 0.05), "{cpu:?}");
    assert!(near(cpu.unexplained_share, 0.4 / 3.6) && near(cpu.steal, 0.01), "{cpu:?}");
    let softirq = &cpu.consumers[1];
    let parts: Vec<_> = softirq.parts.iter().map(|part| (part.cpu, (part.cpus * 1000.0).round())).collect();
    assert_eq!(parts, [(Some(0), 150.0), (Some(1), 50.0)]);
    let cost = cpu.consumers[0].cost.expect("bytes flowed");
    assert!((cost / (1.6 / 5.0) - 1.0).abs() < 0.01 && cpu.work == Some(Work::Bytes), "{cost}");
}

fn calls(end: &str, call: &str, calls: u64) -> SyscallCount {
    SyscallCount {
        end: Some(end.into()),
        call: call.into(),
        calls,
        pid: Some(calls as u32),
        total: Some(Nanos(calls * 1000)),
        running: Some(Nanos(calls * 400)),
        waiting: Some(Nanos(calls * 600)),
        bytes: Some(units::Bytes(calls * 10)),
        times: CallTimes(vec![0; (calls % 3) as usize].into_iter().chain([calls]).collect()),
        ..SyscallCount::default()
    }
}

#[test]
fn merges_threads_of_a_process_and_sorts_by_calls() {
    let mut run = Fixture::new(1);
    run.path("plain", &["wire"]).ping("plain", &[], 10_000.0).probed("plain/ping");
    run.seen("plain/ping", |_, seen| {
        let of = |end: &str, thread: &str, call: &str, times: u64| SyscallCount {
            process: Some("qemu-system-x86".into()),
            thread: Some(thread.into()),
            ..calls(end, call, times)
        };
        seen.syscalls = vec![
            of("server", "CPU 0/KVM", "ioctl", 300),
            of("client", "CPU 0/KVM", "futex", 100),
            of("client", "qemu-system-x86", "futex", 500),
            of("client", "qemu-system-x86", "read", 400),
        ];
    });
    let findings = analyse(&run.record);
    let rates =
        findings.results[0].probed.as_ref().and_then(|probed| probed.calls.as_ref()).expect("counted");
    let rows: Vec<_> = rates
        .processes
        .iter()
        .map(|row| (row.count.end.as_deref(), &*row.count.call, row.count.calls, row.threads, row.share))
        .collect();
    assert_eq!(
        rows,
        [
            (Some("client"), "futex", 600, 2, 0.6),
            (Some("client"), "read", 400, 1, 0.4),
            (Some("server"), "ioctl", 300, 1, 1.0),
        ]
    );
    let [futex, _, ioctl] = &rates.processes[..] else { panic!("three rows") };
    assert_eq!(futex.count.total, Some(Nanos(600_000)));
    assert_eq!((futex.count.thread.as_deref(), ioctl.count.thread.as_deref()), (None, Some("CPU 0/KVM")));
    assert!((rates.all - (futex.rate + rates.processes[1].rate + ioctl.rate)).abs() < 1e-9);
}

#[test]
fn divides_calls_by_work_of_probed_trials() {
    let mut run = run(2);
    run.each(PING, |trial| {
        if let Measurement::PingPong(data) = &mut trial.measurement {
            // 1000 after the warm-up, 1250 including it.
            let mut all = LatencyHistogram::new();
            all.record_many(Nanos(20_000), 1250);
            data.intervals = vec![workload::PingPongInterval {
                warmup: true,
                round_trips: all,
                ..workload::PingPongInterval::default()
            }];
        }
    });
    run.seen(PING, |block, seen| {
        let more = u64::from(block);
        seen.syscalls = vec![calls("client", "sendto", 1250 + more), calls("server", "recvfrom", 2500)];
    });
    let findings = analyse(&run.record);
    let result = result(&findings, PING);
    let listed: Vec<_> = result.syscalls.iter().map(|it| (it.call.as_str(), it.calls, it.pid)).collect();
    assert_eq!(listed, [("recvfrom", 5000, Some(2500)), ("sendto", 2501, None)]);
    assert_eq!(result.syscalls[1].running, Some(Nanos(2501 * 400)));
    assert_eq!(result.syscalls[1].times.0.iter().sum::<u64>(), 2501);
    assert_eq!(result.syscalls[1].bytes, Some(units::Bytes(25_010)));
    let rates = result.probed.as_ref().and_then(|probed| probed.calls.as_ref()).expect("messages came back");
    assert!(near(rates.each[0], 2.0) && near(rates.each[1], 2501.0 / 2500.0), "{rates:?}");
    let ends: Vec<_> = rates.ends.iter().map(|end| (end.end.as_deref(), end.calls)).collect();
    assert_eq!((rates.work, ends), (Work::Messages, vec![(Some("client"), 2501), (Some("server"), 5000)]));
}

#[test]
fn probe_cost_is_paired_by_block_and_has_the_sign_of_its_metric() {
    let mut run = run(6);
    run.each(BULK, |trial| {
        let drift = 8e9 * (1.0 + 0.1 * f64::from(trial.block));
        trial.measurement = stream_of(if trial.arm == Arm::Probed { drift * 0.98 } else { drift });
    });
    run.each(PING, |trial| {
        trial.measurement = ping_of(if trial.arm == Arm::Probed { 21_000.0 } else { 20_000.0 });
    });
    let costs = analyse(&run.record).probes.costs;
    let [stream, ping] = costs.as_slice() else { panic!("{costs:#?}") };
    let interval = stream.interval.expect("six pairs");
    assert!((stream.cost - 0.02).abs() < 1e-6 && (ping.cost - 0.05).abs() < 1e-3, "{costs:#?}");
    assert!(interval.low <= stream.cost && stream.cost <= interval.high, "{stream:#?}");
    assert!((interval.high - interval.low) < 1e-6 && stream.pairs == 6, "{stream:#?}");
    assert!((stream.cpu.expect("the machine is known").cost - (1.0 / 0.98 - 1.0)).abs() < 1e-6);
}

fn point(event: HopEvent, device: &str, kind: &str) -> HopPoint {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    HopPoint { event, device: some(device), kind: some(kind) }
}

/// A path from a pod over its bridge and a tunnel to a server on a host with NAT.
fn points() -> Vec<HopPoint> {
    use HopEvent::{ClientReceives, ClientSends, Queued, Received, ServerReceives, ServerSends, Transmitted};
    vec![
        point(ClientSends, "", ""),
        point(Queued, "pod:eth0", "veth"),
        point(Transmitted, "pod:eth0", "veth"),
        point(Received, "node:veth0", "veth"),
        point(Queued, "node:tunnel", "vxlan"),
        point(Transmitted, "node:tunnel", "vxlan"),
        point(Queued, "node:eth0", "veth"),
        point(Transmitted, "node:eth0", "veth"),
        point(Received, "gate:eth0", "veth"),
        point(Received, "gate:tunnel", "vxlan"),
        point(Queued, "gate:eth1", "veth"),
        point(Received, "host:eth0", "veth"),
        point(ServerReceives, "", ""),
        point(ServerSends, "", ""),
        point(Queued, "host:eth0", "veth"),
        point(Received, "host:br0", "bridge"),
        point(ClientReceives, "", ""),
    ]
}

fn latency_breakdown(points: &[HopPoint], nanos: u64, followed: u64) -> MessagePath {
    let times = |nanos: u64| {
        let mut times = LatencyHistogram::new();
        times.record_many(Nanos(nanos), followed);
        times
    };
    let step = |two: &[HopPoint]| HopStep { from: two[0].clone(), to: two[1].clone(), times: times(nanos) };
    MessagePath {
        every: 4,
        followed,
        not_followed: 2,
        round_trip: times(nanos * 17),
        steps: points.windows(2).map(step).collect(),
    }
}

fn on_the_way(blocks: u32) -> Fixture {
    let mut run = run(blocks);
    let devices = ["pod:eth0", "node:veth0", "node:cni0", "node:tunnel", "gate:tunnel", "gate:eth1"];
    run.record.header.paths[0].devices = devices.map(str::to_owned).to_vec();
    run.each(PING, |trial| {
        trial.devices = devices
            .map(|name| DeviceState {
                device: name.into(),
                kind: if name == "node:cni0" { "bridge" } else { "veth" }.into(),
                mtu: 1500,
                features: Default::default(),
                ..DeviceState::default()
            })
            .to_vec();
        let host = HostCounters {
            host: "gate".into(),
            tracked: Some(1),
            translated: Some(1),
            ..HostCounters::default()
        };
        trial.counters = Some(PathCounters { hosts: vec![host], ..PathCounters::default() });
    });
    run
}

#[test]
fn encryption_and_open_vswitch_are_steps() {
    use HopEvent::{ClientReceives, ClientSends, Queued, Received, Transmitted};
    let path = [
        point(ClientSends, "", ""),
        point(Transmitted, "node:wg0", "wireguard"),
        point(Queued, "node:eth0", "veth"),
        point(Received, "gate:eth0", "veth"),
        point(Received, "gate:ipsec0", "xfrm"),
        point(Received, "gate:ovs0", "ovs"),
        point(ClientReceives, "", ""),
    ];
    let mut run = on_the_way(3);
    run.seen(PING, |_, seen| seen.latency_breakdown = Some(latency_breakdown(&path, 1000, 100)));
    let findings = analyse(&run.record);
    let steps = &result(&findings, PING).latency_breakdown().expect("messages were followed").steps;
    let labels: Vec<&str> = steps.iter().map(|step| step.label.as_str()).collect();
    assert_eq!(
        [labels[1], labels[3], labels[4]],
        ["WireGuard encryption", "ESP decryption", "bridge gate:ovs0"]
    );
}

#[test]
fn steps_have_familiar_names() {
    let mut run = on_the_way(3);
    run.seen(PING, |_, seen| seen.latency_breakdown = Some(latency_breakdown(&points(), 1000, 100)));
    let findings = analyse(&run.record);
    let latency_breakdown = result(&findings, PING).latency_breakdown().expect("messages were followed");
    let names: Vec<&str> = latency_breakdown.steps.iter().map(|step| step.label.as_str()).collect();
    assert_eq!(
        names,
        [
            "send on the client",
            "queueing discipline",
            "over veth",
            "bridge node:cni0",
            "queueing discipline",
            "VXLAN encapsulation",
            "queueing discipline",
            "over veth",
            "VXLAN decapsulation",
            "forwarding and SNAT on gate",
            "on the path",
            "server wake-up",
            "server program",
            "send on the server",
            "on the path",
            "client wake-up",
        ]
    );
    let legs: Vec<Leg> = latency_breakdown.steps.iter().map(|step| step.leg).collect();
    assert!(legs[..12].iter().all(|leg| *leg == Leg::There) && legs[12] == Leg::Server, "{legs:?}");
    assert!(legs[13..].iter().all(|leg| *leg == Leg::Back));
    assert_eq!(latency_breakdown.steps[9].kind, StepKind::Forwarding);
}

#[test]
fn merges_equal_routes_and_compares_medians_with_the_engine() {
    let mut run = on_the_way(5);
    run.each(PING, |trial| {
        trial.measurement = ping_of(if trial.arm == Arm::Probed { 20_000.0 } else { 5_000.0 });
    });
    let short: Vec<HopPoint> = points().into_iter().filter(|point| point.event != HopEvent::Queued).collect();
    run.seen(PING, |block, seen| {
        let (points, followed) = if block == 4 { (short.clone(), 150) } else { (points(), 100) };
        seen.latency_breakdown =
            Some(latency_breakdown(&points, if block == 0 { 3000 } else { 1000 }, followed));
    });
    let findings = analyse(&run.record);
    let latency_breakdown = result(&findings, PING).latency_breakdown().expect("messages were followed");
    assert_eq!(
        (latency_breakdown.followed, latency_breakdown.not_followed, latency_breakdown.steps.len()),
        (400, 2 * 4 + 152, 16)
    );
    assert!(
        latency_breakdown
            .steps
            .iter()
            .all(|step| step.p50.0.abs_diff(1000) < 2 && step.p99.0.abs_diff(3000) < 3)
    );
    let engine = latency_breakdown.engine.expect("round trips were made").0 as f64;
    assert!((engine / 20_000.0 - 1.0).abs() < 0.01, "{engine}");
    assert!(
        (latency_breakdown.unexplained - (1.0 - 16_000.0 / engine)).abs() < 0.01,
        "{latency_breakdown:?}"
    );
    // The sum is 48 µs in the slow trial and 16 µs in each of the others.
    assert!(
        (latency_breakdown.unexplained_in_trial - (1.0 - 16_000.0 / engine)).abs() < 0.01,
        "{latency_breakdown:?}"
    );
    let last = latency_breakdown.steps.last().expect("sixteen");
    assert!((last.start - 15_000.0 / engine).abs() < 0.01 && last.by_trial.len() == 4, "{last:?}");
}

#[test]
fn missing_probe_data_has_no_summary() {
    let mut run = run(3);
    run.seen(PING, |_, seen| seen.latency_breakdown = Some(MessagePath::default()));
    run.seen(BULK, |_, seen| {
        let probe = ProbeKind::Syscalls;
        seen.overflowed = vec![samples::Overflow { probe, events: 5 }];
    });
    let findings = analyse(&run.record);
    assert_eq!(result(&findings, PING).latency_breakdown(), None);
    let probed = result(&findings, BULK).probed.as_ref().expect("it was watched");
    assert_eq!((probed.cpu.is_some(), probed.calls.is_some(), probed.trials), (false, false, 3));
    assert_eq!(probed.overflowed[0].events, 15);
    assert!(
        findings.limitations.iter().any(|limitation| limitation.contains("system calls")),
        "{:#?}",
        findings.limitations
    );
}

#[test]
fn reports_cpu_time_of_guests_carriers_and_guest_kernels() {
    let mut run = run(2);
    let times = [
        (CpuConsumer::ClientVm, 600),
        (CpuConsumer::ServerVm, 800),
        (CpuConsumer::Vmm, 100),
        (CpuConsumer::Vhost, 200),
        (CpuConsumer::Irq, 20),
    ];
    let others = [(CpuConsumer::Kernel, 4), (CpuConsumer::Plumb, 50), (CpuConsumer::Other, 70)];
    let shares: Vec<_> =
        times.into_iter().chain(others).map(|(consumer, millis)| (consumer, None, millis)).collect();
    run.seen(BULK, |_, seen| seen.cpu = Some(attributed(1900, &shares)));
    run.each(BULK, |trial| {
        let probed = trial.arm == Arm::Probed;
        let user = Nanos::from_millis(if probed { 500 } else { 300 });
        let cpu = MachineCpu { cpus: 2, elapsed: Nanos::from_secs(1), user, ..MachineCpu::default() };
        trial.cpu.guests = vec![GuestCpu { end: "server".into(), cpu }];
    });
    run.seen(PING, |_, seen| seen.cpu = Some(attributed(500, &[(CpuConsumer::Client, None, 500)])));
    let findings = analyse(&run.record);
    let cpu =
        |id| result(&findings, id).probed.as_ref().and_then(|probed| probed.cpu.as_ref()).expect("known");
    let machines = cpu(BULK).machines.expect("there are guests");
    assert!(machines.server == Some(0.4) && machines.client == Some(0.3), "{machines:?}");
    assert!(near(machines.hypervisor, 0.162), "{machines:?}");
    let busy = |guests: &[GuestTime]| guests.iter().map(|it| (it.end.clone(), it.busy)).collect::<Vec<_>>();
    assert_eq!(busy(&cpu(BULK).guests), [("server".to_owned(), 0.5)], "same trials as for its host");
    assert_eq!(busy(&result(&findings, BULK).guests), [("server".to_owned(), 0.3)]);
    assert_eq!((cpu(PING).machines, result(&findings, PING).guests.len()), (None, 0));
}

#[test]
fn calls_per_message_are_zero_or_unknown_without_calls() {
    let mut run = run(3);
    let all = |findings: &Findings| -> Option<f64> {
        result(findings, PING).probed.as_ref()?.calls.as_ref().map(|calls| calls.all)
    };
    assert_eq!(all(&analyse(&run.record)), Some(0.0));
    run.seen(PING, |_, seen| seen.failed = vec![failed(ProbeKind::Syscalls)]);
    assert_eq!(all(&analyse(&run.record)), None);
}

fn failed(probe: ProbeKind) -> MissingProbe {
    MissingProbe { probe, reason: "no memory".into() }
}

#[test]
fn reports_failed_probe_with_first_and_number_of_trials() {
    let mut run = run(4);
    assert_eq!(analyse(&run.record).probes.failed, []);
    run.seen(BULK, |block, seen| {
        if block == 1 || block == 2 {
            seen.failed = vec![failed(ProbeKind::Cpu)];
        }
    });
    run.each(PING, |trial| {
        trial.observed.iter_mut().for_each(|seen| seen.failed = vec![failed(ProbeKind::PacketWay)]);
    });
    run.record.trials.sort_by_key(|trial| trial.index);
    let probes = analyse(&run.record).probes;
    let first = |result: &str, block| {
        let of_result =
            |it: &&samples::Trial| it.arm == Arm::Probed && it.result == result && it.block == block;
        run.record.trials.iter().find(of_result).map(|trial| trial.index)
    };
    let failures: Vec<_> =
        probes.failed.iter().map(|it| (it.probe, Some(it.first_trial), it.trials, it.later_trials)).collect();
    assert_eq!(
        failures,
        [(ProbeKind::Cpu, first(BULK, 1), 2, 5), (ProbeKind::PacketWay, first(PING, 0), 4, 0)]
    );
    assert_eq!(probes.used, ProbeKind::ALL, "streams had them all");
}

#[test]
fn trial_without_remaining_probes_does_not_count_as_probed() {
    let mut run = run(3);
    run.seen(BULK, |block, seen| match block {
        0 => seen.elapsed = Nanos::from_secs(2),
        _ => seen.failed = ProbeKind::ALL.map(failed).to_vec(),
    });
    run.seen(PING, |_, seen| seen.failed = ProbeKind::ALL.map(failed).to_vec());
    let findings = analyse(&run.record);
    assert_eq!(result(&findings, BULK).probed.as_ref().map(|probed| probed.trials), Some(1));
    assert_eq!(result(&findings, PING).probed, None);
    assert!(findings.probes.costs.iter().all(|cost| cost.pairs == 1), "{:?}", findings.probes.costs);
    assert!(findings.probes.failed.iter().all(|failed| failed.trials == 5), "{:?}", findings.probes.failed);
}

#[test]
fn counts_unfinished_calls_separately_by_thread() {
    let mut run = run(3);
    run.seen(PING, |block, seen| {
        let asleep = |call: &str, millis| SyscallCount {
            calls: 0,
            total: Some(Nanos::from_millis(millis)),
            waiting: Some(Nanos::from_millis(millis)),
            ..calls("server", call, 0)
        };
        seen.under_way = vec![asleep("futex", 5), asleep("ppoll", 300 + u64::from(block))];
    });
    let findings = analyse(&run.record);
    let result = result(&findings, PING);
    let probed = result.probed.as_ref().expect("it was watched");
    let unfinished: Vec<_> =
        probed.under_way.iter().map(|it| (it.call.as_str(), it.calls, it.waiting)).collect();
    assert_eq!(
        unfinished,
        [("ppoll", 3, Some(Nanos::from_millis(903))), ("futex", 3, Some(Nanos::from_millis(15)))]
    );
    assert_eq!((result.syscalls.len(), probed.calls.as_ref().map(|calls| calls.all)), (0, Some(0.0)));
}
