//! Probed runs. Each has one defect, or narrowly avoids one.

use findings::{Evidence, Finding, Severity};
use samples::{
    AttributedCpu, AttributionSource, BlackHole, ConsumerShare, CpuConsumer, CpuThrottling, DeviceCounters,
    EndReason, HopEvent, HopPoint, HopStep, HostCounters, MessagePath, PathCounters, PolicerCounters,
    QdiscCounters, ResultEnd, SoftnetCounters,
};
use units::{Bytes, Nanos};
use workload::LatencyHistogram;

use super::made::nested;
use crate::fixtures::{Fixture, ping_of, stream_of};

const BULK: &str = "plain/bulk";
const PING: &str = "plain/ping";

pub(in crate::rules) fn slowed(by: f64, swing: f64) -> Fixture {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]).stream("plain", &[], 10e9).probed(BULK);
    run.each(BULK, |trial| {
        let probed = trial.observed.is_some();
        let sign = if trial.block % 2 == 0 { 1.0 } else { -1.0 };
        trial.measurement = stream_of(if probed { 10e9 * (1.0 - by + sign * swing) } else { 10e9 });
    });
    run
}

/// One second on two CPUs with 1.2 CPU-seconds busy, of which `millis` are unattributed.
pub(in crate::rules) fn unowned(millis: u64) -> Fixture {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]).stream("plain", &[], 10e9).probed(BULK);
    run.seen(BULK, |_, seen| {
        seen.cpu = Some(attributed(vec![
            share(CpuConsumer::Client, None, 500),
            share(CpuConsumer::Server, None, 700 - millis),
        ]));
    });
    run
}

pub(in crate::rules) fn traced_softirq(millis: u64) -> Fixture {
    let mut run = nested(9e9);
    run.probed(super::made::UPPER).seen(super::made::UPPER, |_, seen| {
        seen.cpu = Some(attributed(vec![
            share(CpuConsumer::Softirq, Some(1), millis),
            share(CpuConsumer::Softirq, Some(0), 20),
            share(CpuConsumer::Client, None, 200),
        ]));
    });
    run
}

pub(in crate::rules) fn attributed(shares: Vec<ConsumerShare>) -> AttributedCpu {
    AttributedCpu {
        source: AttributionSource::Traced,
        reason: None,
        elapsed: Nanos::from_secs(1),
        cpus: 2,
        busy: Nanos::from_millis(1200),
        steal: Nanos(0),
        shares,
    }
}

pub(in crate::rules) fn share(consumer: CpuConsumer, cpu: Option<u32>, millis: u64) -> ConsumerShare {
    ConsumerShare { consumer, process: None, thread: None, cpu, time: Nanos::from_millis(millis) }
}

pub(in crate::rules) fn tunnelled(micros: u64) -> Fixture {
    let mut run = Fixture::new(6);
    run.path("plain", &["vxlan", "wire"]).ping("plain", &[], 20_000.0).probed(PING);
    run.each(PING, |trial| trial.measurement = ping_of(20_000.0));
    run.seen(PING, |_, seen| seen.latency_breakdown = Some(latency_breakdown(micros)));
    run
}

fn latency_breakdown(micros: u64) -> MessagePath {
    let at = |event, device: &str| HopPoint {
        event,
        device: (!device.is_empty()).then(|| device.to_owned()),
        kind: (!device.is_empty())
            .then(|| if device.ends_with("vxlan") { "vxlan" } else { "veth" }.to_owned()),
    };
    let points = [
        at(HopEvent::ClientSends, ""),
        at(HopEvent::Queued, "a:vxlan"),
        at(HopEvent::Transmitted, "a:vxlan"),
        at(HopEvent::Queued, "a:eth0"),
        at(HopEvent::Received, "b:eth0"),
        at(HopEvent::ServerReceives, ""),
        at(HopEvent::ServerSends, ""),
        at(HopEvent::ClientReceives, ""),
    ];
    let times = |nanos: u64| {
        let mut times = LatencyHistogram::new();
        times.record_many(Nanos(nanos), 100);
        times
    };
    let took = |index: usize| if index == 2 { micros * 1000 } else { 1500 };
    let steps = points.windows(2).enumerate().map(|(index, two)| HopStep {
        from: two[0].clone(),
        to: two[1].clone(),
        times: times(took(index)),
    });
    MessagePath {
        every: 8,
        followed: 100,
        not_followed: 1,
        round_trip: times(20_000),
        steps: steps.collect(),
    }
}

/// In each trial, this many of 100,000 packets are dropped.
pub(in crate::rules) fn dropping(by_backlog: u64, by_qdisc: u64) -> Fixture {
    let mut run = nested(9e9);
    run.each(super::made::UPPER, |trial| {
        let qdisc = QdiscCounters { kind: "tbf".into(), drops: by_qdisc, ..QdiscCounters::default() };
        trial.counters = Some(PathCounters {
            devices: vec![DeviceCounters {
                device: "a:eth0".into(),
                tx_packets: 100_000 - by_qdisc,
                rx_packets: 50_000,
                rx_dropped: by_backlog,
                qdisc: Some(qdisc),
                ..DeviceCounters::default()
            }],
            hosts: Vec::new(),
            softnet: Some(SoftnetCounters {
                processed: 100_000 - by_backlog,
                dropped: by_backlog,
                squeezed: 3,
            }),
        });
    });
    run
}

pub(in crate::rules) fn shaped(overlimits: u64) -> Fixture {
    let mut run = dropping(0, 0);
    run.each(super::made::UPPER, |trial| {
        let devices = trial.counters.iter_mut().flat_map(|counters| &mut counters.devices);
        devices.filter_map(|device| device.qdisc.as_mut()).for_each(|qdisc| qdisc.overlimits = overlimits);
    });
    run
}

pub(in crate::rules) fn policed(dropped: u64) -> Fixture {
    let mut run = dropping(0, 0);
    let policer = PolicerCounters {
        bits_per_second: 500_000_000,
        leaving: false,
        uncounted: false,
        dropped,
        dropped_bytes: Bytes(dropped * 50_000),
    };
    run.each(super::made::UPPER, |trial| {
        let devices = trial.counters.iter_mut().flat_map(|counters| &mut counters.devices);
        devices.for_each(|device| device.policer = Some(policer));
    });
    run
}

/// The only attempt failed because a host with 12 tracked connections refused its packets.
pub(in crate::rules) fn refused(insert_failed: u64, table_full: u64, checksum_errors: u64) -> Fixture {
    failed_at(12, insert_failed, table_full, checksum_errors)
}

/// The only attempt failed. A host with 16 NAT ports has these counters.
pub(in crate::rules) fn failed_at(
    tracked: u64,
    insert_failed: u64,
    table_full: u64,
    checksum_errors: u64,
) -> Fixture {
    let mut run = black_hole(None);
    let host = HostCounters {
        host: "b".into(),
        tracked: Some(tracked),
        nat_ports: Some([40_000, 40_015]),
        insert_failed,
        table_full,
        checksum_errors,
        ..HostCounters::default()
    };
    let counters = PathCounters { hosts: vec![host], ..PathCounters::default() };
    run.record.ends.iter_mut().for_each(|end| end.counters = Some(counters.clone()));
    run
}

pub(in crate::rules) fn throttled(periods: u64) -> Fixture {
    let mut run = nested(9e9);
    run.each(super::made::UPPER, |trial| {
        trial.cpu.throttled = vec![CpuThrottling {
            end: "client".into(),
            group: "/sys/fs/cgroup/cpu/pod".into(),
            limit: Some(0.2),
            periods: 79,
            throttled: periods,
            time: Nanos::from_millis(periods * 80),
        }];
    });
    run
}

pub(in crate::rules) fn black_hole(device: Option<&str>) -> Fixture {
    let mut run = nested(9e9);
    run.path("hole", &["wire"]).stream("hole", &[], 1e9);
    let result = "hole/bulk".to_owned();
    run.record.trials.retain(|trial| trial.result != result);
    let skipped = samples::SkippedResult { result: result.clone(), reason: "packets are lost".into() };
    run.record.skipped.push(skipped);
    let black_hole = device.map(|device| BlackHole {
        carried: 1400,
        lost: 1500,
        headers: 28,
        device: Some(device.to_owned()),
        device_mtu: Some(1400),
    });
    let reason = EndReason::Unusable { trials: 0 };
    run.record.ends.push(ResultEnd { result, reason, trials: 0, black_hole, counters: None });
    run
}

#[test]
fn path_that_loses_the_packets_of_a_workload_is_the_conclusion() {
    let conclusion = |run: &Fixture| crate::analyse(&run.record).verdict.conclusion;
    let broken = conclusion(&black_hole(Some("sw:p2")));
    let findings::Conclusion::Broken { reason, action: Some(action) } = broken else { panic!("{broken:?}") };
    assert_eq!((reason.finding.as_str(), action.starts_with("Lower the MTU")), ("black-hole", true));
    assert!(!matches!(conclusion(&black_hole(None)), findings::Conclusion::Broken { .. }));
}

#[test]
fn black_hole_of_a_stream_is_serious_if_a_device_loses_its_packets() {
    for (device, severity, says) in [
        (Some("sw:p2"), Severity::Serious, "sw:p2 loses the client's packets above 1300 bytes"),
        (None, Severity::Warning, "hole loses packets or their replies above 1300 bytes"),
    ] {
        let mut run = nested(9e9);
        run.path("hole", &["wire"]).stream("hole", &[], 1e6);
        let device = device.map(str::to_owned);
        let hole = BlackHole { carried: 1300, lost: 1500, headers: 28, device, device_mtu: None };
        run.each("hole/bulk", |trial| trial.path_check.black_hole = Some(hole.clone()));
        let findings = crate::analyse(&run.record).findings;
        let found = findings.iter().find(|finding| finding.id == "black-hole").expect("it is found");
        assert_eq!(found.severity, severity);
        let lead = found.sentence.lead.to_string();
        assert!(lead.starts_with(says), "{lead}");
    }
}

#[test]
fn black_hole_concerns_only_results_with_larger_packets() {
    let mut run = nested(9e9);
    let results = ["one/bulk", "one/ping", "other/bulk"];
    for path in ["one", "other"] {
        run.path(path, &["wire"]).stream(path, &[], 1e6).ping(path, &[], 50e3);
    }
    for (result, device) in results.iter().zip(["sw:p1", "sw:p1", "sw:p2"]) {
        let device = Some(device.into());
        let hole = BlackHole { carried: 1300, lost: 1500, headers: 28, device, device_mtu: None };
        run.each(result, |trial| trial.path_check.black_hole = Some(hole.clone()));
    }
    let concerned = |run: &Fixture| -> Vec<(bool, Vec<String>)> {
        let is_first = |finding: &Finding| finding.sentence.lead.parts()[0].text == "sw:p1";
        let found = super::claims(run, "black-hole").into_iter();
        found.map(|finding| (is_first(&finding), finding.results)).collect()
    };
    let expected = [(true, vec![results[0].to_owned()]), (false, vec![results[2].to_owned()])];
    assert_eq!(concerned(&run), expected, "each device loses packets of its own path");
    run.record.trials.retain(|trial| trial.result == results[1]);
    assert_eq!(concerned(&run), [(true, vec![])], "the messages are smaller");
}

#[test]
fn replaces_only_queueing_disciplines_without_rate_limit() {
    for (kind, replaced) in [("tbf", false), ("htb", false), ("pfifo_fast", true), ("fq_codel", true)] {
        let mut run = dropping(0, 20);
        run.each(super::made::UPPER, |trial| {
            let devices = trial.counters.iter_mut().flat_map(|counters| &mut counters.devices);
            devices.filter_map(|device| device.qdisc.as_mut()).for_each(|qdisc| qdisc.kind = kind.into());
        });
        let reported = super::claims(&run, "qdisc-drops");
        let commands = &reported[0].remedy.as_ref().expect("there is one").commands;
        let replaces =
            |command: &String| command.starts_with("tc qdisc replace dev eth0 root fq_codel  # in a");
        assert_eq!(commands.iter().any(replaces), replaced, "{kind}: {commands:?}");
    }
}

#[test]
fn each_device_that_limits_the_rate_is_named() {
    let upper = super::made::UPPER;
    for (mut run, rule) in [(shaped(50_000), "shaped-port"), (policed(100), "policed-port")] {
        run.path("other", &["wire"]).stream("other", &[], 1e9);
        let counters = run.record.trials.iter().find(|trial| trial.result == upper);
        let mut counters = counters.and_then(|trial| trial.counters.clone()).expect("they are counted");
        counters.devices.iter_mut().for_each(|device| device.device = "b:eth0".into());
        run.each("other/bulk", |trial| trial.counters = Some(counters.clone()));
        let mut named: Vec<(bool, Vec<String>)> = super::claims(&run, rule)
            .into_iter()
            .map(|finding| (finding.sentence.to_string().contains("b:eth0"), finding.results))
            .collect();
        named.sort();
        assert_eq!(named, [(false, vec![upper.to_owned()]), (true, vec!["other/bulk".to_owned()])], "{rule}");
    }
}

#[test]
fn packets_may_be_held_back_several_times() {
    let reported = super::claims(&shaped(250_000), "shaped-port");
    assert!(
        reported[0].sentence.detail.to_string().starts_with("it delayed packets 250 times per 100 packets"),
        "{reported:#?}"
    );
}

#[test]
fn offload_off_names_the_segmenting_device() {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]);
    run.stream("plain", &[("offload", "off")], 5e9).stream("plain", &[("offload", "on")], 20e9);
    run.devices("plain/bulk/offload=off", &[("a:eth0", 1500, &[("rx-gro", false)])]);
    run.devices("plain/bulk/offload=on", &[("a:eth0", 1500, &[("rx-gro", true)])]);
    let passed = |name: &str, packets: u64| DeviceCounters {
        device: name.into(),
        tx_packets: packets,
        tx_bytes: Bytes(packets * 1500),
        ..DeviceCounters::default()
    };
    run.each("plain/bulk/offload=off", |trial| {
        let devices = vec![passed("a:eth0", 500), passed("b:eth0", 15_000)];
        trial.counters = Some(PathCounters { devices, ..PathCounters::default() });
    });
    let reported = super::claims(&run, "offload-off");
    let cut = |it: &Evidence| it.label.contains("offload=off") && it.value.ends_with("segmented at b:eth0");
    assert!(reported[0].evidence.iter().any(cut), "{reported:#?}");
}
