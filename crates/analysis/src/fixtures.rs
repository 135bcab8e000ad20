//! Small run records with known values, for tests.

use std::collections::BTreeMap;

use samples::{
    Arm, CpuUsage, Design, DeviceState, Environment, ImportRecord, ImportedKind, ImportedSettings,
    MachineCpu, Origin, PathCheck, PathRecord, ProbeKind, ProbeResults, ResultRecord, RunHeader, RunId,
    RunRecord, RunState, SCHEMA, ScenarioRecord, ThreadCpu, ThreadRole, Trial, UnixMillis, WorkloadSource,
};
use units::{Bytes, Nanos};
use workload::{
    ConnectData, ConnectInterval, DatagramSample, Direction, EndSeries, Flow, Interval, LatencyHistogram,
    Measurement, OpenLoopData, PingPongData, PingPongSettings, Quantity, ReportedData, ReportedValue,
    SocketFacts, SocketSettings, StreamData, StreamSettings, TcpSample, Until, WorkloadSettings,
};

const INTERVAL: Nanos = Nanos::from_millis(250);
const INTERVALS: u64 = 5;

/// `host:device`, MTU and features.
pub(crate) type Device<'a> = (&'a str, u32, &'a [(&'a str, bool)]);

pub(crate) struct Fixture {
    pub(crate) record: RunRecord,
}

impl Fixture {
    pub(crate) fn new(blocks: u32) -> Self {
        let header = RunHeader {
            schema: SCHEMA,
            id: RunId("small-20261121-113015".into()),
            scenario: ScenarioRecord {
                name: "small".into(),
                title: "A small run".into(),
                about: "Made for a test.".into(),
                digest: String::new(),
                text: String::new(),
            },
            seed: 7,
            blocks,
            planned: 0,
            started: UnixMillis(1_795_260_615_000),
            state: RunState::Complete,
            tool: "0.1.0".into(),
            origin: Origin::Measured,
            remedy_trials: None,
            probes: Vec::new(),
            missing_probes: Vec::new(),
            machines: Vec::new(),
            queue_factors: Vec::new(),
            workload_limits: Vec::new(),
            design: Design::default(),
            environment: Some(environment()),
            paths: Vec::new(),
            results: Vec::new(),
        };
        Self { record: RunRecord::new(header, Vec::new()) }
    }

    pub(crate) fn environment(&mut self) -> &mut Environment {
        self.record.header.environment.get_or_insert_default()
    }

    pub(crate) fn path(&mut self, name: &str, layers: &[&str]) -> &mut Self {
        let baseline = self.record.header.paths.is_empty();
        self.record.header.paths.push(PathRecord {
            name: name.into(),
            about: String::new(),
            from: "a:eth0".into(),
            to: "b:eth0".into(),
            layers: layers.iter().map(ToString::to_string).collect(),
            devices: Vec::new(),
            baseline,
        });
        self
    }

    pub(crate) fn pair(&mut self, from: &str, to: &str, rate: f64) -> &mut Self {
        let name = format!("{from}-to-{to}");
        self.path(&name, &["network"]);
        let path = self.record.header.paths.last_mut().expect("it was just made");
        (path.from, path.to) = (format!("{from}:eth0"), format!("{to}:eth0"));
        self.stream(&name, &[], rate)
    }

    pub(crate) fn stream(&mut self, path: &str, levels: &[(&str, &str)], rate: f64) -> &mut Self {
        self.result(path, "bulk", levels, stream_settings(), |jitter| stream_of(rate * jitter))
    }

    pub(crate) fn ping(&mut self, path: &str, levels: &[(&str, &str)], nanos: f64) -> &mut Self {
        self.result(path, "ping", levels, ping_settings(), |jitter| ping_of(nanos * jitter))
    }

    /// Adds a result from another tool, with identical trials. The run becomes an imported run on an unknown machine.
    pub(crate) fn imported(
        &mut self,
        path: &str,
        workload: &str,
        levels: &[(&str, &str)],
        measurement: Measurement,
    ) -> &mut Self {
        let settings = imported_settings(&measurement);
        self.result(path, workload, levels, stream_settings(), move |_| measurement.clone());
        let result = self.record.header.results.last_mut().expect("it was just made");
        (result.sent, result.placement) = (WorkloadSource::Imported(settings), "unknown".into());
        let id = result.id.clone();
        self.record.trials.retain(|trial| trial.result != id || trial.arm == Arm::Measure);
        self.record.header.origin = Origin::Imported(ImportRecord::default());
        self.record.header.environment = None;
        self.each(&id, |trial| trial.cpu = CpuUsage::default())
    }

    pub(crate) fn logged(mut self) -> Self {
        self.record.header.origin = Origin::Imported(ImportRecord::default());
        self
    }

    pub(crate) fn measured(
        &mut self,
        path: &str,
        workload: &str,
        load: WorkloadSettings,
        measurement: &Measurement,
    ) -> &mut Self {
        self.result(path, workload, &[], load, |_| measurement.clone())
    }

    pub(crate) fn each(&mut self, result: &str, change: impl Fn(&mut Trial)) -> &mut Self {
        assert!(self.record.header.results.iter().any(|known| known.id == result), "no result {result}");
        self.record.trials.iter_mut().filter(|trial| trial.result == result).for_each(change);
        self
    }

    pub(crate) fn probed(&mut self, result: &str) -> &mut Self {
        let own =
            self.record.trials.iter().filter(|trial| trial.result == result && trial.arm == Arm::Measure);
        let probed: Vec<Trial> = own.map(|trial| Trial { arm: Arm::Probed, ..trial.clone() }).collect();
        for mut trial in probed {
            (trial.index, trial.observed) = (self.record.header.planned, Some(ProbeResults::default()));
            self.record.trials.push(trial);
            self.record.header.planned += 1;
        }
        self.record.header.probes = ProbeKind::ALL.to_vec();
        self
    }

    /// Marks every trial of a stream result as simultaneous with another one. Adds a separate trial at about `rate` to
    /// each block.
    pub(crate) fn alone(&mut self, result: &str, rate: f64) -> &mut Self {
        self.each(result, |trial| trial.simultaneous = 1);
        for block in 0..self.record.header.blocks {
            let jitter = jitter(block, self.record.trials.len());
            self.trial(result, block, Arm::Alone, stream_of(rate * jitter));
        }
        self
    }

    pub(crate) fn seen(&mut self, result: &str, change: impl Fn(u32, &mut ProbeResults)) -> &mut Self {
        self.each(result, |trial| {
            if let Some(seen) = &mut trial.observed {
                change(trial.block, seen);
            }
        })
    }

    /// Devices with names that end in `vxlan` are VXLAN devices.
    pub(crate) fn devices(&mut self, result: &str, devices: &[Device<'_>]) -> &mut Self {
        self.each(result, |trial| trial.devices = devices.iter().map(|it| device(it.0, it.1, it.2)).collect())
    }

    fn result(
        &mut self,
        path: &str,
        workload: &str,
        levels: &[(&str, &str)],
        load: WorkloadSettings,
        measure: impl Fn(f64) -> Measurement,
    ) -> &mut Self {
        let header = &mut self.record.header;
        let levels: BTreeMap<String, String> =
            levels.iter().map(|(factor, level)| (factor.to_string(), level.to_string())).collect();
        let queues = levels.keys().filter(|factor| factor.contains("ueue"));
        header.queue_factors.extend(queues.cloned());
        let settings: Vec<String> =
            levels.iter().map(|(factor, level)| format!("/{factor}={level}")).collect();
        let id = format!("{path}/{workload}{}", settings.concat());
        let baseline = header.paths.iter().any(|known| known.name == path && known.baseline)
            && !header.results.iter().any(|known| known.baseline && known.workload == workload);
        header.results.push(ResultRecord {
            id: id.clone(),
            path: path.into(),
            workload: workload.into(),
            levels,
            sent: WorkloadSource::Load(load),
            placement: "cross-cpu".into(),
            baseline,
        });
        let salt = header.results.len();
        for block in 0..header.blocks {
            self.trial(&id, block, Arm::Measure, measure(jitter(block, salt)));
            if baseline {
                self.trial(&id, block, Arm::Again, measure(jitter(block, salt + 1000)));
            }
        }
        self
    }

    pub(crate) fn trial(&mut self, result: &str, block: u32, arm: Arm, measurement: Measurement) {
        self.record.trials.push(Trial {
            index: self.record.header.planned,
            block,
            result: result.into(),
            arm,
            started: UnixMillis(1_795_260_616_000),
            measurement,
            cpu: cpu(),
            devices: Vec::new(),
            path_check: PathCheck::default(),
            syscalls: Vec::new(),
            observed: None,
            counters: None,
            warnings: Vec::new(),
            instructions: None,
            simultaneous: 0,
            discarded: Vec::new(),
        });
        self.record.header.planned += 1;
    }
}

pub(crate) fn jitter(block: u32, salt: usize) -> f64 {
    // The final steps of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
    let mut mixed = (u64::from(block) << 32 | salt as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    1.0 + ((mixed ^ (mixed >> 31)) % 401) as f64 / 1e5 - 0.002
}

pub(crate) fn contaminated(share: f64) -> Fixture {
    let mut run = Fixture::new(6);
    run.pair("a", "b", share * 10e9).pair("c", "d", share * 10e9);
    run.alone("a-to-b/bulk", 10e9).alone("c-to-d/bulk", 10e9);
    run
}

pub(crate) fn stream_of(rate: f64) -> Measurement {
    stream_at(&[rate; INTERVALS as usize])
}

pub(crate) fn stream_at(rates: &[f64]) -> Measurement {
    let flow = Flow {
        id: 0,
        direction: Direction::Forward,
        sender: series(rates, Some(tcp_sample())),
        receiver: series(rates, None),
    };
    Measurement::Stream(StreamData { flows: vec![flow] })
}

fn series(rates: &[f64], tcp: Option<TcpSample>) -> EndSeries {
    let interval = |(index, rate): (usize, &f64)| Interval {
        start: Nanos(INTERVAL.0 * index as u64),
        end: Nanos(INTERVAL.0 * (index as u64 + 1)),
        bytes: Bytes((rate / 8.0 * INTERVAL.seconds()) as u64),
        warmup: index == 0,
        tcp,
        datagrams: None,
    };
    EndSeries {
        intervals: rates.iter().enumerate().map(interval).collect(),
        socket: SocketFacts { congestion: Some("cubic".into()), mss: Some(1448), ..SocketFacts::default() },
        lateness: None,
        skipped: None,
        has_common_start: true,
    }
}

fn tcp_sample() -> TcpSample {
    TcpSample {
        cwnd: Bytes(1_448_000),
        rtt: Nanos(90_000),
        rtt_variation: Nanos(10_000),
        segments: 5000,
        ..TcpSample::default()
    }
}

pub(crate) fn reported_of(columns: &[(&str, Quantity, f64)]) -> Measurement {
    let value = |&(name, quantity, value): &(&str, Quantity, f64)| ReportedValue {
        name: name.to_owned(),
        quantity,
        value,
    };
    Measurement::Reported(ReportedData { values: columns.iter().map(value).collect() })
}

fn imported_settings(measurement: &Measurement) -> ImportedSettings {
    let (tool, kind) = match measurement {
        Measurement::Stream(_) => ("iperf3 3.12", ImportedKind::Stream),
        Measurement::PingPong(_) => ("sockperf", ImportedKind::PingPong),
        Measurement::Connect(_) => ("netperf", ImportedKind::Connect),
        Measurement::FirstTouch(_) | Measurement::Balloon(_) | Measurement::Reported(_) => {
            ("a table", ImportedKind::Other)
        }
    };
    ImportedSettings::of(tool, kind)
}

pub(crate) fn ping_of(nanos: f64) -> Measurement {
    let mut round_trips = LatencyHistogram::new();
    (0..1000).for_each(|step| round_trips.record(Nanos((nanos * (0.9 + 0.0002 * f64::from(step))) as u64)));
    Measurement::PingPong(PingPongData {
        round_trips,
        elapsed: Nanos((nanos * 1000.0) as u64),
        lost: Some(0),
        ..PingPongData::default()
    })
}

/// One UDP stream. `intervals` has the numbers of 1000-byte datagrams received and lost per 250 ms.
pub(crate) fn datagrams_at(intervals: &[(u64, i64)]) -> Measurement {
    let rates: Vec<f64> =
        intervals.iter().map(|(count, _)| *count as f64 * 8000.0 / INTERVAL.seconds()).collect();
    let Measurement::Stream(mut data) = stream_at(&rates) else { unreachable!("it is a stream") };
    for (index, (count, lost)) in intervals.iter().enumerate() {
        let sample =
            DatagramSample { count: *count, lost: *lost, jitter: Nanos(7000), ..DatagramSample::default() };
        let sent =
            DatagramSample { count: count + lost.max(&0).cast_unsigned(), ..DatagramSample::default() };
        let flow = &mut data.flows[0];
        for (end, sample) in [(&mut flow.receiver, sample), (&mut flow.sender, sent)] {
            (end.intervals[index].datagrams, end.intervals[index].tcp) = (Some(sample), None);
        }
    }
    Measurement::Stream(data)
}

/// Open-loop round trips of `nanos` nanoseconds. Each message is sent `late` nanoseconds late, and `stalled` round
/// trips take a millisecond longer.
pub(crate) fn open_loop_of(nanos: u64, late: u64, stalled: usize) -> Measurement {
    let Measurement::PingPong(mut data) = ping_of(nanos as f64) else { unreachable!("it is a ping-pong") };
    let mut open = OpenLoopData::default();
    for index in 0..1000 {
        let stall = if index < stalled { 1_000_000 } else { 0 };
        open.since_intended.record(Nanos(nanos + late + stall));
        open.lateness.record(Nanos(late));
    }
    data.open_loop = Some(open);
    Measurement::PingPong(data)
}

pub(crate) fn connections() -> Measurement {
    let mut data = ConnectData { elapsed: Nanos::from_secs(2), failed: 3, ..ConnectData::default() };
    for _ in 0..1000 {
        data.connects.record(Nanos(50_000));
        data.exchanges.record(Nanos(200_000));
    }
    data.intervals = (0..20)
        .map(|index| ConnectInterval {
            start: Nanos::from_millis(100 * index),
            end: Nanos::from_millis(100 * (index + 1)),
            done: if index % 2 == 0 { 49 } else { 51 },
            ..ConnectInterval::default()
        })
        .collect();
    Measurement::Connect(data)
}

pub(crate) fn stream_settings() -> WorkloadSettings {
    WorkloadSettings::Stream(StreamSettings {
        warmup: INTERVAL,
        socket: SocketSettings { congestion: Some("cubic".into()), ..SocketSettings::kernel() },
        interval: INTERVAL,
        ..StreamSettings::new(Until::Elapsed(Nanos::from_secs(1)))
    })
}

pub(crate) fn ping_settings() -> WorkloadSettings {
    WorkloadSettings::PingPong(PingPongSettings::new(Nanos::from_secs(1)))
}

pub(crate) fn device(name: &str, mtu: u32, features: &[(&str, bool)]) -> DeviceState {
    DeviceState {
        device: name.into(),
        kind: if name.ends_with("vxlan") { "vxlan" } else { "veth" }.into(),
        mtu,
        features: features.iter().map(|(feature, on)| (feature.to_string(), *on)).collect(),
        ..DeviceState::default()
    }
}

pub(crate) fn cpu() -> CpuUsage {
    let second = Nanos::from_secs(1);
    let thread =
        |end: &str, role| ThreadCpu { end: end.into(), role, busy: Nanos(second.0 / 2), elapsed: second };
    CpuUsage {
        machine: MachineCpu {
            cpus: 2,
            elapsed: second,
            user: Nanos::from_millis(100),
            system: Nanos::from_millis(700),
            irq: Nanos(0),
            softirq: Nanos::from_millis(400),
            steal: Nanos(0),
            idle: Nanos::from_millis(800),
            by_cpu: Vec::new(),
        },
        threads: vec![thread("client", ThreadRole::Send), thread("server", ThreadRole::Receive)],
        guests: Vec::new(),
        processes: None,
        throttled: Vec::new(),
    }
}

pub(crate) fn environment() -> Environment {
    Environment {
        kernel: "6.18.0".into(),
        architecture: "x86_64".into(),
        cpus: 2,
        congestion_default: Some("cubic".into()),
        load_average: Some([0.1, 0.1, 0.1]),
        privileged: true,
        ..Environment::default()
    }
}

const ON: &[(&str, bool)] = &[("tx-tcp-segmentation", true), ("tx-generic-segmentation", true)];
const OFF: &[(&str, bool)] = &[("tx-tcp-segmentation", false), ("tx-generic-segmentation", false)];

/// An egress gateway with three nested paths. The underlay's offloads apply to all paths but have no effect. The
/// VXLAN device's offloads apply to the upper two paths and have an effect.
pub(crate) fn egress(blocks: u32) -> Fixture {
    let mut run = Fixture::new(blocks);
    run.path("node-to-node", &["wire"])
        .path("vxlan-to-vxlan", &["wire", "vxlan"])
        .path("pod-to-target", &["veth", "wire", "vxlan", "gateway"]);
    for under in ["on", "off"] {
        run.stream("node-to-node", &[("underlay-offload", under)], 20e9);
    }
    for (path, rate) in [("vxlan-to-vxlan", 16e9), ("pod-to-target", 12e9)] {
        for under in ["on", "off"] {
            for (tunnel, features, keeps) in [("on", ON, 1.0), ("off", OFF, 0.3)] {
                let levels = [("underlay-offload", under), ("vxlan-offload", tunnel)];
                run.stream(path, &levels, rate * keeps).devices(
                    &format!("{path}/bulk/underlay-offload={under}/vxlan-offload={tunnel}"),
                    &[("node1:eth0", 1500, ON), ("node1:egress.vxlan", 1450, features)],
                );
            }
        }
    }
    run.ping("node-to-node", &[("underlay-offload", "on")], 40_000.0);
    run.ping("vxlan-to-vxlan", &[("underlay-offload", "on"), ("vxlan-offload", "on")], 46_000.0);
    run
}
