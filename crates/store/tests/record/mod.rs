//! A small run with unusual values, and a store in a temporary folder.

use std::{collections::BTreeMap, path::PathBuf};

use samples::{
    Arm, CpuUsage, Design, DeviceState, Environment, Origin, PathCheck, PathRecord, ResultRecord, RunHeader,
    RunId, RunState, SCHEMA, ScenarioRecord, Trial, UnixMillis, ValidityWarning, WorkloadSource,
};
use tempfile::TempDir;
use units::{BitRate, Bytes, Nanos};
use workload::{
    Direction, EndSeries, Flow, Interval, LatencyHistogram, Measurement, PingPongData, StreamData,
    StreamSettings, TcpSample, Until, WorkloadSettings,
};

pub(crate) fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("kept").join("runs.db");
    (folder, path)
}

pub(crate) fn header(id: &str, started: i64) -> RunHeader {
    let scenario = id.split_once("-2026").map_or(id, |(name, _)| name).to_owned();
    RunHeader {
        schema: SCHEMA,
        id: RunId(id.to_owned()),
        scenario: ScenarioRecord {
            title: format!("The scenario {scenario}: 'quoted', \"twice\", ünïcode ✓"),
            about: "Line one.\nLine two.".into(),
            digest: format!("digest of {scenario}"),
            text: "[lab]\n# a comment; DROP TABLE run;\n".into(),
            name: scenario,
        },
        seed: u64::MAX,
        blocks: 5,
        planned: 12,
        started: UnixMillis(started),
        state: RunState::Unfinished,
        tool: "0.1.0".into(),
        origin: Origin::Measured,
        remedy_trials: None,
        probes: Vec::new(),
        missing_probes: Vec::new(),
        workload_limits: Vec::new(),
        machines: Vec::new(),
        queue_factors: Vec::new(),
        design: Design { budget: Some(Nanos::from_secs(600)), precision: Some(0.02), ..Design::default() },
        environment: Some(Environment {
            kernel: "6.18.0".into(),
            load_average: Some([0.1 + 0.2, 1e-300, 7.0]),
            memory: Bytes(u64::MAX),
            ..Environment::default()
        }),
        paths: vec![PathRecord {
            name: "wire".into(),
            about: String::new(),
            from: "a:eth0".into(),
            to: "b:eth0".into(),
            layers: vec!["wire".into()],
            devices: vec!["a:eth0".into(), "b:eth0".into()],
            baseline: true,
        }],
        results: vec![result()],
    }
}

fn result() -> ResultRecord {
    ResultRecord {
        id: "wire/stream".into(),
        path: "wire".into(),
        workload: "stream".into(),
        levels: BTreeMap::from([("offload".into(), "on".into())]),
        sent: WorkloadSource::Load(WorkloadSettings::Stream(StreamSettings {
            direction: Direction::Both,
            warmup: Nanos(1),
            ..StreamSettings::new(Until::Sent(Bytes(1 << 40)))
        })),
        placement: "cross-cpu".into(),
        baseline: true,
    }
}

pub(crate) fn trial(index: u32) -> Trial {
    Trial {
        index,
        block: index / 2,
        result: "wire/stream".into(),
        arm: if index == 0 { Arm::Again } else { Arm::Measure },
        started: UnixMillis(1_795_000_000_000 + i64::from(index)),
        measurement: if index.is_multiple_of(2) { stream(index) } else { ping_pong(index) },
        cpu: CpuUsage::default(),
        devices: vec![DeviceState {
            device: "a:eth0".into(),
            kind: "veth".into(),
            mtu: 1500,
            features: BTreeMap::from([("tx-tcp-segmentation".into(), true)]),
            gso_max_size: None,
            gro_max_size: Some(Bytes(65_536)),
            ..DeviceState::default()
        }],
        path_check: PathCheck { mtu: Some(1500), black_hole: None },
        syscalls: Vec::new(),
        observed: None,
        counters: None,
        // These numbers are not exact in binary, so a careless parser would get the last bit wrong.
        warnings: vec![
            ValidityWarning::Stolen { share: 0.1 + 0.2 },
            ValidityWarning::GeneratorLimited { end: "client".into(), busy: 51.248_178_143_210_5 },
        ],
        instructions: None,
        simultaneous: 0,
        discarded: Vec::new(),
    }
}

fn stream(index: u32) -> Measurement {
    let interval = |n: u64| Interval {
        start: Nanos(n * 100_000_001),
        end: Nanos((n + 1) * 100_000_001),
        bytes: Bytes(u64::from(index) << 33 | n),
        warmup: n == 0,
        tcp: Some(TcpSample {
            retransmits: u32::MAX,
            cwnd: Bytes(321 * 1024),
            rtt: Nanos(49_312),
            rtt_variation: Nanos(7),
            pacing: (n > 1).then_some(BitRate(9.414e9 / 3.0)),
            send_buffer_limited: Nanos(u64::MAX),
            ..TcpSample::default()
        }),
        datagrams: None,
    };
    let end = EndSeries { intervals: (0..20).map(interval).collect(), ..EndSeries::default() };
    let flow = Flow { id: 0, direction: Direction::Forward, sender: end.clone(), receiver: end };
    Measurement::Stream(StreamData { flows: vec![flow] })
}

fn ping_pong(index: u32) -> Measurement {
    let mut round_trips = LatencyHistogram::new();
    (1..1000).for_each(|n| round_trips.record(Nanos(n * 1009 * u64::from(index))));
    Measurement::PingPong(PingPongData {
        round_trips,
        elapsed: Nanos::from_secs(2),
        lost: Some(3),
        ..PingPongData::default()
    })
}
