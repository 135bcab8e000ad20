//! Tests every hint with a trial that triggers it and a similar one that does not, and checks its documentation
//! page.

use findings::{Finding, Severity};
use samples::{
    CpuThrottling, CpuUsage, DeviceCounters, DeviceState, Environment, HostCounters, PathCounters,
    PolicerCounters, QdiscCounters, UnixMillis, ValidityWarning,
};
use units::{Bytes, Nanos};
use workload::{Measurement, WorkloadSettings};

use super::*;
use crate::{
    fixtures::{cpu, device, environment, stream_at, stream_settings},
    single_measurement::single_measurement,
};

struct Trial {
    load: WorkloadSettings,
    measurement: Measurement,
    warnings: Vec<ValidityWarning>,
    environment: Environment,
    devices: Vec<DeviceState>,
    throttled: u64,
    counters: PathCounters,
}

impl Trial {
    fn new(change: impl FnOnce(&mut Self)) -> Self {
        let (load, measurement) = (stream_settings(), stream_at(&[9e9; 20]));
        let (warnings, devices, environment) = (Vec::new(), Vec::new(), environment());
        let device = DeviceCounters { device: "eth0".into(), tx_packets: 1000, ..DeviceCounters::default() };
        let host = HostCounters { host: "The client".into(), ..HostCounters::default() };
        let counters = PathCounters { devices: vec![device], hosts: vec![host], softnet: None };
        let mut trial = Self { load, measurement, warnings, environment, devices, throttled: 0, counters };
        change(&mut trial);
        trial
    }

    fn tcp(&mut self, change: impl Fn(&mut workload::TcpSample)) {
        let Measurement::Stream(data) = &mut self.measurement else { unreachable!("it is a stream") };
        data.flows[0].sender.intervals.iter_mut().filter_map(|it| it.tcp.as_mut()).for_each(change);
    }

    fn stop_after(&mut self, intervals: usize) {
        let Measurement::Stream(data) = &mut self.measurement else { unreachable!("it is a stream") };
        let silent = data.flows[0].sender.intervals.iter_mut().skip(intervals);
        silent.zip([2, 2].into_iter().chain(std::iter::repeat(1))).for_each(|(interval, retransmits)| {
            interval.bytes = Bytes(0);
            interval.tcp.iter_mut().for_each(|tcp| tcp.retransmits = retransmits);
        });
    }

    fn window(&mut self, size: u64) {
        let WorkloadSettings::Stream(load) = &mut self.load else { unreachable!("it is a stream") };
        load.socket.window = Some(Bytes(size));
    }

    fn congestion(&mut self, name: &str) {
        let Measurement::Stream(data) = &mut self.measurement else { unreachable!("it is a stream") };
        data.flows[0].sender.socket.congestion = Some(name.into());
    }

    fn policed(&mut self, dropped: u64) {
        let policer = PolicerCounters { bits_per_second: 20_000_000, dropped, ..PolicerCounters::default() };
        self.counters.devices[0].policer = Some(policer);
    }

    fn queued(&mut self, drops: u64, overlimits: u64) {
        let qdisc = QdiscCounters { kind: "tbf".into(), drops, overlimits, ..QdiscCounters::default() };
        self.counters.devices[0].qdisc = Some(qdisc);
    }

    fn hints(&self) -> Vec<Finding> {
        let throttling = CpuThrottling {
            end: "client".into(),
            group: "/sys/fs/cgroup/pod".into(),
            limit: None,
            periods: 79,
            throttled: self.throttled,
            time: Nanos::from_millis(self.throttled * 80),
        };
        let cpu = CpuUsage { throttled: vec![throttling], ..cpu() };
        single_measurement(&Single {
            tool: "0.1.0",
            started: UnixMillis(0),
            peer: "198.18.0.2:5201",
            load: &self.load,
            placement: "cross-cpu",
            measurement: &self.measurement,
            cpu: &cpu,
            warnings: &self.warnings,
            environment: Some(&self.environment),
            devices: &self.devices,
            counters: Some(&self.counters),
        })
        .hints
    }
}

struct Case {
    hint: &'static str,
    given: fn(&mut Trial),
    spared: fn(&mut Trial),
    severity: Severity,
    says: &'static [&'static str],
}

fn limited(end: &str, busy: f64, sends: bool) -> ValidityWarning {
    let end = end.to_owned();
    if sends {
        ValidityWarning::GeneratorLimited { end, busy }
    } else {
        ValidityWarning::ReceiverLimited { end, busy }
    }
}

const CASES: &[Case] = &[
    Case {
        hint: "stalled",
        given: |trial| trial.stop_after(2),
        spared: |trial| trial.stop_after(18),
        severity: Severity::Serious,
        says: &["The stream stopped after", "20 retransmits", "plumb ping SERVER"],
    },
    Case {
        hint: "cpu-throttled",
        given: |trial| trial.throttled = 69,
        spared: |trial| trial.throttled = 1,
        severity: Severity::Serious,
        says: &["The client used up its CPU quota in 69 of 79 periods", "/sys/fs/cgroup/pod"],
    },
    Case {
        hint: "lost-checksum",
        given: |trial| trial.counters.hosts[0].checksum_errors = 30,
        spared: |trial| trial.counters.hosts[0].checksum_errors = 1,
        severity: Severity::Serious,
        says: &["The client receives packets with wrong", "ethtool -K DEVICE tx off  # in the server"],
    },
    Case {
        hint: "policed-port",
        given: |trial| trial.policed(30),
        spared: |trial| trial.policed(0),
        severity: Severity::Warning,
        says: &["A packet filter at eth0 drops traffic arriving above 20.0 Mbit/s", "30 packets"],
    },
    Case {
        hint: "qdisc-drops",
        given: |trial| trial.queued(30, 0),
        spared: |trial| trial.queued(0, 900),
        severity: Severity::Warning,
        says: &["The queueing discipline of eth0 (tbf) dropped 30 packets", "tc -s qdisc show dev eth0"],
    },
    Case {
        hint: "shaped-port",
        given: |trial| trial.queued(0, 900),
        spared: |trial| trial.queued(0, 9),
        severity: Severity::Warning,
        says: &["The queueing discipline of eth0 (tbf) limits the rate", "90 times per 100 packets"],
    },
    Case {
        hint: "slow-congestion-control",
        given: |trial| trial.congestion("bbr"),
        spared: |trial| trial.congestion("cubic"),
        severity: Severity::Warning,
        says: &["bbr, the machine's default", "plumb client 198.18.0.2 -p 5201 -C cubic"],
    },
    Case {
        hint: "small-buffers",
        given: |trial| {
            trial.window(65_536);
            trial.tcp(|tcp| tcp.send_buffer_limited = Nanos::from_millis(100));
        },
        spared: |trial| trial.tcp(|tcp| tcp.send_buffer_limited = Nanos::from_millis(100)),
        severity: Severity::Warning,
        says: &["The send buffer (64.0 KiB requested", "the sender for 40.0 %", "Leave the window unset"],
    },
    Case {
        hint: "slow-governor",
        given: |trial| trial.environment.governor = Some("powersave".into()),
        spared: |trial| trial.environment.governor = Some("performance".into()),
        severity: Severity::Warning,
        says: &["powersave", "cpupower frequency-set -g performance"],
    },
    Case {
        hint: "offload-off",
        given: |trial| {
            trial.devices = vec![device("vxlan", 1450, &[("rx-gro", false), ("tx-tcp-segmentation", true)])];
        },
        spared: |trial| {
            trial.devices = vec![device("eth0", 1500, &[("rx-gro", false), ("tx-gre-segmentation", false)])];
        },
        severity: Severity::Note,
        says: &["Offloads of vxlan are off", "Measure with offloads on and off", "ethtool -k vxlan"],
    },
    Case {
        hint: "retransmits",
        given: |trial| trial.tcp(|tcp| tcp.retransmits = 5_000),
        spared: |trial| trial.tcp(|tcp| tcp.retransmits = 100),
        severity: Severity::Serious,
        says: &["no sender detected reordering", "tc -s qdisc"],
    },
    Case {
        hint: "generator-limited",
        given: |trial| trial.warnings = vec![limited("client", 0.99, true)],
        spared: |trial| trial.warnings = vec![limited("server", 0.99, false)],
        severity: Severity::Note,
        says: &["The client's sending thread was busy 99.0 %", "-P 2"],
    },
    Case {
        hint: "receiver-limited",
        given: |trial| trial.warnings = vec![limited("server", 0.98, false)],
        spared: |trial| trial.warnings = vec![limited("client", 0.98, true)],
        severity: Severity::Note,
        says: &["The server's receiving thread was busy 98.0 %"],
    },
];

#[test]
fn each_hint_is_given_only_if_it_applies() {
    for case in CASES {
        let of = |change: fn(&mut Trial)| -> Vec<Finding> {
            Trial::new(change).hints().into_iter().filter(|hint| hint.id == case.hint).collect()
        };
        let given = of(case.given);
        assert_eq!(given.len(), 1, "{}", case.hint);
        assert_eq!(given[0].severity, case.severity, "{given:#?}");
        let text = format!("{} {:?}", given[0].claim(), given[0]);
        for word in case.says {
            assert!(text.contains(word), "{}: `{word}` is not in {given:#?}", case.hint);
        }
        assert_eq!(of(case.spared), [], "{}", case.hint);
    }
}

#[test]
fn each_hint_has_a_test_case_and_a_page() {
    for hint in ALL {
        assert!(CASES.iter().any(|case| case.hint == hint.id), "{} has no case", hint.id);
        let page = format!("{}/../../docs/findings/{}.md", env!("CARGO_MANIFEST_DIR"), hint.id);
        #[expect(clippy::disallowed_methods, reason = "the test reads the pages that the hints name")]
        let text = std::fs::read_to_string(&page).unwrap_or_default();
        for part in ["# `", "## Evidence", "## Limitations", "## Remedy"] {
            assert!(text.contains(part), "docs/findings/{}.md has no `{part}`", hint.id);
        }
    }
    assert_eq!(CASES.len(), ALL.len());
}

#[test]
fn retransmits_with_reordering_are_not_losses() {
    let trial = Trial::new(|trial| trial.tcp(|tcp| (tcp.retransmits, tcp.reorderings) = (5_000, 1)));
    let hint = trial.hints().into_iter().find(|hint| hint.id == "retransmits").expect("it is given");
    assert_eq!(hint.severity, Severity::Warning, "{hint:#?}");
    assert!(hint.claim().to_string().contains("late, not lost"), "{hint:#?}");
}

#[test]
fn remedy_for_a_servers_congestion_control_names_what_it_may_use() {
    let mut trial = Trial::new(|trial| trial.congestion("bbr"));
    let WorkloadSettings::Stream(load) = &mut trial.load else { unreachable!("it is a stream") };
    load.direction = workload::Direction::Reverse;
    let hint = trial.hints().into_iter().find(|hint| hint.id == "slow-congestion-control");
    let commands = hint.expect("it is given").remedy.expect("it has one").commands;
    assert!(commands[0].starts_with("sysctl net.ipv4.tcp_allowed_congestion_control"), "{commands:?}");
    assert_eq!(commands[1], "plumb client 198.18.0.2 -p 5201 -R -C cubic");
}

#[test]
fn undisturbed_trial_has_no_hints() {
    assert_eq!(Trial::new(|_| {}).hints(), []);
}
