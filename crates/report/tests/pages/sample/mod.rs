//! Hand-written findings: an egress gateway with its VXLAN offloads off in half of the results.

use findings::{
    Change, Difference, Evidence, Finding, Findings, Remedy, RemedyEffect, Role, RunProbes, RunSummary,
    RunVerdict, SCHEMA, Severity,
};
use samples::{
    Calibration, Design, Environment, Origin, PathRecord, RunId, RunState, SkippedResult, UnixMillis,
};
use units::Bytes;
use workload::Metric;

use self::{
    differences::{effect, floor, ping_pong_breakdown, stream_breakdown},
    results::{comparison, ping_pong, result_id, stream},
};

pub(crate) mod alternatives;
pub(crate) mod comparison;
mod differences;
mod engine;
pub(crate) mod imported;
pub(crate) mod machines;
pub(crate) mod probed;
pub(crate) mod record;
mod results;
pub(crate) mod single;
pub(crate) mod sweep;
mod verdict;

pub(crate) fn findings() -> Findings {
    verdict::of_egress(Findings {
        schema: SCHEMA,
        run: run(),
        verdict: RunVerdict::default(),
        results: vec![
            stream("node-to-node", None, 33.04, None),
            stream("vxlan-to-vxlan", Some("on"), 19.23, Some(0.582)),
            stream("vxlan-to-vxlan", Some("off"), 4.61, Some(0.1395)),
            stream("pod-to-target", Some("on"), 18.87, Some(0.571)),
            stream("pod-to-target", Some("off"), 4.55, Some(0.1377)),
            ping_pong("node-to-node", None, 48_400.0, None),
            ping_pong("pod-to-target", Some("on"), 77_900.0, Some(1.61)),
        ],
        comparisons: 4,
        noise: vec![floor("stream", 0.021), floor("ping-pong", 0.034)],
        cost_breakdowns: vec![stream_breakdown("on"), stream_breakdown("off"), ping_pong_breakdown()],
        effects: vec![
            effect("vxlan-to-vxlan", 0.24, -14.62, Difference::Lower),
            effect("pod-to-target", 0.241, -14.32, Difference::Lower),
        ],
        rankings: vec![],
        matrices: vec![],
        matched_pairs: vec![],
        answers: vec![],
        trade_offs: None,
        probes: RunProbes::default(),
        findings: claims(),
        skipped: vec![SkippedResult {
            result: "pod-to-target/geneve".into(),
            reason: "this kernel has no geneve (modprobe geneve, or a kernel with CONFIG_GENEVE)".into(),
        }],
        limitations: vec![
            "The machine has 2 CPUs: both ends and the kernel's work for them share these.".into(),
        ],
    })
}

pub(crate) fn engine() -> Findings {
    verdict::of_values(Findings {
        run: RunSummary { title: "Workloads of the engine".into(), paths: vec![path("wire", true)], ..run() },
        results: vec![engine::datagrams(), engine::open_loop(), engine::under_load(), engine::connections()],
        ..nothing()
    })
}

pub(crate) fn nothing() -> Findings {
    Findings {
        run: RunSummary { completed: 0, state: RunState::Unfinished, ..run() },
        verdict: RunVerdict::default(),
        results: vec![],
        comparisons: 1,
        noise: vec![],
        cost_breakdowns: vec![],
        effects: vec![],
        rankings: vec![],
        matrices: vec![],
        matched_pairs: vec![],
        answers: vec![],
        trade_offs: None,
        probes: RunProbes::default(),
        findings: vec![],
        skipped: vec![],
        limitations: vec![],
        schema: SCHEMA,
    }
}

fn run() -> RunSummary {
    RunSummary {
        id: RunId("egress-gateway-20261121-113015".into()),
        scenario: "egress-gateway".into(),
        title: "Cost of the hops of an egress gateway".into(),
        about: "A pod's traffic goes through a VXLAN tunnel to the egress node, which gives it its address."
            .into(),
        started: UnixMillis(1_795_260_615_000),
        state: RunState::Complete,
        seed: 4_071_132,
        blocks: 5,
        planned: 45,
        completed: 45,
        tool: "0.1.0".into(),
        origin: Origin::Measured,
        design: Design::default(),
        environment: Some(environment()),
        machines: Vec::new(),
        machine_changes: Vec::new(),
        unreadable: Vec::new(),
        paths: vec![path("node-to-node", true), path("vxlan-to-vxlan", false), path("pod-to-target", false)],
    }
}

fn environment() -> Environment {
    Environment {
        kernel: "6.18.0".into(),
        architecture: "x86_64".into(),
        cpu_model: Some("AMD EPYC 7T83".into()),
        cpus: 2,
        usable_cpus: vec![0, 1],
        governor: None,
        memory: Bytes(24 << 30),
        virtual_machine: true,
        clock_source: Some("tsc".into()),
        congestion_default: Some("bbr".into()),
        congestion_available: vec!["reno".into(), "bbr".into(), "cubic".into()],
        load_average: Some([0.31, 0.28, 0.3]),
        privileged: true,
        engine: Some(Calibration { clock_ns: 21.4, syscall_ns: 92.0, wake_ns: 12_400.0 }),
        inside: None,
    }
}

fn layers(path: &str) -> &'static [&'static str] {
    match path {
        "node-to-node" => &["wire"],
        "vxlan-to-vxlan" => &["vxlan", "wire"],
        _ => &["veth", "bridge", "vxlan", "wire", "gateway"],
    }
}

fn path(name: &str, baseline: bool) -> PathRecord {
    let layers = layers(name);
    PathRecord {
        name: name.into(),
        about: format!("over {}", layers.join(" and ")),
        from: "node1:eth0".into(),
        to: "target:eth0".into(),
        layers: layers.iter().map(ToString::to_string).collect(),
        devices: vec!["node1:eth0".into(), "target:eth0".into()],
        baseline,
    }
}

fn claims() -> Vec<Finding> {
    let evidence = |what: &str, value: &str| Evidence::new(what).text(value);
    let lead = "With the offloads of node1:vxlan0 off, the tunnel carries only a quarter of its rate";
    vec![
        Finding {
            results: vec![result_id("vxlan-to-vxlan", Some("off"), "stream")],
            evidence: vec![
                evidence("vxlan-offload off against on, vxlan-to-vxlan", "24.0 % (23.5 to 24.7, 94 %)"),
                evidence("vxlan-offload off against on, pod-to-target", "24.1 % (23.6 to 24.8, 94 %)"),
            ],
            limitations: vec!["A network card that offloads VXLAN itself would shift the cost.".into()],
            remedy: Some(Remedy {
                change: Some(Change::OffloadsOn { devices: vec!["node1:vxlan0".into(), "node2:vxlan0".into()] }),
                effects: vec![RemedyEffect {
                    result: result_id("vxlan-to-vxlan", Some("off"), "stream"),
                    label: "vxlan-to-vxlan, vxlan-offload=off, stream".into(),
                    metric: Metric::Throughput,
                    before: 4.61e9,
                    after: 19.1e9,
                    comparison: comparison(4.14, 14.5e9, Difference::Higher),
                }],
                ..Remedy::manual(
                    "Switch the offloads on where the device is, on both nodes",
                    vec![
                        "ethtool -K vxlan0 tx-checksum-ip-generic on tx-tcp-segmentation on tx-tcp6-segmentation on \
                         tx-tcp-ecn-segmentation on"
                            .into(),
                    ],
                )
            }),
            ..Finding::new("offload-off", Role::Cause, Severity::Serious, lead)
        },
        Finding {
            results: vec![result_id("pod-to-target", Some("on"), "stream")],
            evidence: vec![evidence("pod-to-target against vxlan-to-vxlan", "none")],
            ..Finding::new(
                "tunnel-cost",
                Role::Symptom,
                Severity::Note,
                "The cost of the gateway is within the noise",
            )
        },
    ]
}
