//! The run that produced the findings: one trial for each of two results, with the samples that reports fold.

use samples::{
    Arm, CpuUsage, Design, Environment, MachineCpu, Origin, PathCheck, ResultRecord, RunHeader, RunId,
    RunRecord, RunState, SCHEMA, ScenarioRecord, Trial, UnixMillis, WorkloadSource,
};
use units::{Bytes, Nanos};
use workload::{
    Direction, EndSeries, Flow, Interval, LatencyHistogram, Measurement, PingPongData, PingPongSettings,
    StreamData, TcpSample, WorkloadSettings,
};

pub(crate) fn record() -> RunRecord {
    let trials = vec![
        trial(0, Arm::Again, "node-to-node/stream", stream(1)),
        trial(1, Arm::Measure, "node-to-node/stream", stream(6)),
        trial(2, Arm::Measure, "node-to-node/ping-pong", ping_pong()),
    ];
    RunRecord::new(header(), trials)
}

fn header() -> RunHeader {
    RunHeader {
        schema: SCHEMA,
        id: RunId("egress-gateway-20261121-113015".into()),
        scenario: ScenarioRecord {
            name: "egress-gateway".into(),
            title: String::new(),
            about: String::new(),
            digest: String::new(),
            text: String::new(),
        },
        seed: 4_071_132,
        blocks: 5,
        planned: 45,
        started: UnixMillis(1_795_260_615_000),
        state: RunState::Complete,
        tool: "0.1.0".into(),
        origin: Origin::Measured,
        remedy_trials: None,
        probes: Vec::new(),
        missing_probes: Vec::new(),
        workload_limits: Vec::new(),
        machines: Vec::new(),
        queue_factors: Vec::new(),
        design: Design::default(),
        environment: Some(Environment::default()),
        paths: vec![],
        results: ["stream", "ping-pong"].map(result).to_vec(),
    }
}

fn result(workload: &str) -> ResultRecord {
    ResultRecord {
        id: format!("node-to-node/{workload}"),
        path: "node-to-node".into(),
        workload: workload.into(),
        levels: [("vxlan-offload".to_owned(), "on, \"both\"".to_owned())].into(),
        sent: WorkloadSource::Load(WorkloadSettings::PingPong(PingPongSettings::new(Nanos::from_secs(2)))),
        placement: "cross-cpu".into(),
        baseline: true,
    }
}

fn trial(index: u32, arm: Arm, result: &str, measurement: Measurement) -> Trial {
    let (elapsed, system) = (Nanos::from_secs(1), Nanos::from_millis(1820));
    let machine = MachineCpu { cpus: 2, elapsed, system, ..MachineCpu::default() };
    Trial {
        index,
        block: 0,
        result: result.into(),
        arm,
        started: UnixMillis(1_795_260_616_000 + i64::from(index)),
        measurement,
        cpu: CpuUsage { machine, ..CpuUsage::default() },
        devices: vec![],
        path_check: PathCheck::default(),
        syscalls: vec![],
        observed: None,
        counters: None,
        warnings: vec![],
        instructions: None,
        simultaneous: 0,
        discarded: vec![],
    }
}

fn stream(flows: u32) -> Measurement {
    let flow = |id| Flow {
        id,
        direction: Direction::Forward,
        sender: end(4_130_000_000, true),
        receiver: end(4_128_000_000, false),
    };
    Measurement::Stream(StreamData { flows: (0..flows).map(flow).collect() })
}

fn end(bytes: u64, tcp: bool) -> EndSeries {
    let sample = TcpSample {
        retransmits: 2,
        cwnd: Bytes(321 << 10),
        rtt: Nanos(212_400),
        rtt_variation: Nanos(9_000),
        segments: 61_000,
        ..TcpSample::default()
    };
    let interval = |n: u64| Interval {
        start: Nanos::from_secs(n),
        end: Nanos::from_secs(n + 1),
        bytes: Bytes(bytes + n * 1_000_000),
        warmup: n == 0,
        tcp: tcp.then_some(sample),
        datagrams: None,
    };
    EndSeries { intervals: (0..3).map(interval).collect(), ..EndSeries::default() }
}

fn ping_pong() -> Measurement {
    let mut round_trips = LatencyHistogram::new();
    (1..=1000).for_each(|n| round_trips.record(Nanos(48_000 + n)));
    Measurement::PingPong(PingPongData {
        round_trips,
        elapsed: Nanos::from_secs(2),
        lost: Some(1),
        ..PingPongData::default()
    })
}
