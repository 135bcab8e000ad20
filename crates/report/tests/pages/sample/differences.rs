//! Cost breakdowns and effects that fit the results.

use std::collections::BTreeMap;

use findings::{CostBreakdown, CostStep, Difference, FactorEffect, NoiseFloor};
use workload::Metric;

use super::results::{comparison, levels, result_id};

pub(super) fn floor(workload: &str, floor: f64) -> NoiseFloor {
    let result = result_id("node-to-node", None, workload);
    NoiseFloor { workload: workload.into(), result, floor, ratio: 1.004, pairs: 5 }
}

pub(super) fn stream_breakdown(offload: &str) -> CostBreakdown {
    let (vxlan, pod) = if offload == "on" { (19.23, 18.87) } else { (4.61, 4.55) };
    let step = |path: &str, value: f64| CostStep {
        result: result_id(path, (path != "node-to-node").then_some(offload), "stream"),
        path: path.into(),
        value: value * 1e9,
        below: None,
        adds: vec![],
        cost: None,
    };
    CostBreakdown {
        workload: "stream".into(),
        metric: Metric::Throughput,
        levels: levels(Some(offload)),
        steps: vec![
            step("node-to-node", 33.04),
            CostStep {
                below: Some("node-to-node".into()),
                adds: vec!["vxlan".into()],
                cost: Some(comparison(vxlan / 33.04, (vxlan - 33.04) * 1e9, Difference::Lower)),
                ..step("vxlan-to-vxlan", vxlan)
            },
            CostStep {
                below: Some("vxlan-to-vxlan".into()),
                adds: vec!["veth".into(), "bridge".into(), "gateway".into()],
                cost: Some(comparison(pod / vxlan, (pod - vxlan) * 1e9, Difference::None)),
                ..step("pod-to-target", pod)
            },
        ],
    }
}

pub(super) fn ping_pong_breakdown() -> CostBreakdown {
    let step = |path: &str, offload, value| CostStep {
        result: result_id(path, offload, "ping-pong"),
        path: path.into(),
        value,
        below: None,
        adds: vec![],
        cost: None,
    };
    CostBreakdown {
        workload: "ping-pong".into(),
        metric: Metric::RoundTrip,
        levels: levels(Some("on")),
        steps: vec![
            step("node-to-node", None, 48_400.0),
            CostStep {
                below: Some("node-to-node".into()),
                adds: ["veth", "bridge", "vxlan", "gateway"].map(str::to_owned).to_vec(),
                cost: Some(comparison(1.61, 29_500.0, Difference::Higher)),
                ..step("pod-to-target", Some("on"), 77_900.0)
            },
        ],
    }
}

pub(super) fn effect(path: &str, ratio: f64, gbits: f64, verdict: Difference) -> FactorEffect {
    FactorEffect {
        factor: "vxlan-offload".into(),
        reference: "on".into(),
        level: "off".into(),
        path: path.into(),
        workload: "stream".into(),
        metric: Metric::Throughput,
        others: BTreeMap::new(),
        reference_result: result_id(path, Some("on"), "stream"),
        result: result_id(path, Some("off"), "stream"),
        change: comparison(ratio, gbits * 1e9, verdict),
    }
}
