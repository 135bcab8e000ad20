//! Ladders and effects that fit the cells.

use std::collections::BTreeMap;

use findings::{CostStep, Difference, FactorEffect, Ladder, NoiseFloor};
use workload::Metric;

use super::cells::{cell_id, comparison, levels};

pub(super) fn floor(workload: &str, floor: f64) -> NoiseFloor {
    let cell = cell_id("node-to-node", None, workload);
    NoiseFloor { workload: workload.into(), cell, floor, ratio: 1.004, pairs: 5 }
}

pub(super) fn stream_ladder(offload: &str) -> Ladder {
    let (vxlan, pod) = if offload == "on" { (19.23, 18.87) } else { (4.61, 4.55) };
    let rung = |path: &str, value: f64| CostStep {
        cell: cell_id(path, (path != "node-to-node").then_some(offload), "stream"),
        path: path.into(),
        value: value * 1e9,
        below: None,
        adds: vec![],
        cost: None,
    };
    Ladder {
        workload: "stream".into(),
        metric: Metric::Throughput,
        levels: levels(Some(offload)),
        rungs: vec![
            rung("node-to-node", 33.04),
            CostStep {
                below: Some("node-to-node".into()),
                adds: vec!["vxlan".into()],
                cost: Some(comparison(vxlan / 33.04, (vxlan - 33.04) * 1e9, Difference::Lower)),
                ..rung("vxlan-to-vxlan", vxlan)
            },
            CostStep {
                below: Some("vxlan-to-vxlan".into()),
                adds: vec!["veth".into(), "bridge".into(), "gateway".into()],
                cost: Some(comparison(pod / vxlan, (pod - vxlan) * 1e9, Difference::None)),
                ..rung("pod-to-target", pod)
            },
        ],
    }
}

pub(super) fn ping_pong_ladder() -> Ladder {
    let rung = |path: &str, offload, value| CostStep {
        cell: cell_id(path, offload, "ping-pong"),
        path: path.into(),
        value,
        below: None,
        adds: vec![],
        cost: None,
    };
    Ladder {
        workload: "ping-pong".into(),
        metric: Metric::RoundTrip,
        levels: levels(Some("on")),
        rungs: vec![
            rung("node-to-node", None, 48_400.0),
            CostStep {
                below: Some("node-to-node".into()),
                adds: ["veth", "bridge", "vxlan", "gateway"].map(str::to_owned).to_vec(),
                cost: Some(comparison(1.61, 29_500.0, Difference::Higher)),
                ..rung("pod-to-target", Some("on"), 77_900.0)
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
        reference_cell: cell_id(path, Some("on"), "stream"),
        cell: cell_id(path, Some("off"), "stream"),
        change: comparison(ratio, gbits * 1e9, verdict),
    }
}
