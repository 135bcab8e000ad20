//! Classifies and names the steps between two points of a path.

use std::collections::BTreeMap;

use findings::StepKind;
use samples::{HopEvent, HopPoint, MessagePath, Trial};

use crate::observations::Observations;

pub(super) struct Steps<'a> {
    /// The bridges on the path that have no probe point, by host.
    bridges: BTreeMap<&'a str, &'a str>,
    translating: Vec<&'a str>,
}

impl<'a> Steps<'a> {
    pub(super) fn of(
        result: &Observations<'a>,
        trials: &[&'a Trial],
        latency_breakdown: &MessagePath,
    ) -> Self {
        let seen = |device: &str| {
            let at = |point: &HopPoint| point.device.as_deref() == Some(device);
            latency_breakdown.steps.iter().any(|step| at(&step.from) || at(&step.to))
        };
        let bridge = |device: &str| {
            let mut states = trials.iter().flat_map(|trial| &trial.devices);
            states.any(|state| state.device == device && is_bridge(&state.kind))
        };
        let devices = result.path.map(|path| path.devices.as_slice()).unwrap_or_default();
        let passed = devices.iter().filter(|device| bridge(device) && !seen(device));
        let hosts = trials.iter().filter_map(|trial| trial.counters.as_ref()).flat_map(|it| &it.hosts);
        Self {
            bridges: passed.filter_map(|device| Some((host(device)?, device.as_str()))).collect(),
            translating: hosts
                .filter(|host| host.translated.is_some())
                .map(|host| host.host.as_str())
                .collect(),
        }
    }

    pub(super) fn named(&self, from: &HopPoint, to: &HopPoint) -> (StepKind, String) {
        let there = from.device.as_deref().zip(to.device.as_deref());
        let same_host = there.is_some_and(|(from, to)| host(from) == host(to));
        match (from.event, to.event) {
            (HopEvent::ClientSends, _) => (StepKind::Send, "send on the client".into()),
            (HopEvent::ServerReceives, HopEvent::ServerSends) => (StepKind::Program, "server program".into()),
            (HopEvent::ServerSends, _) => (StepKind::Send, "send on the server".into()),
            (_, HopEvent::ServerReceives) => (StepKind::Wakeup, "server wake-up".into()),
            (_, HopEvent::ClientReceives) => (StepKind::Wakeup, "client wake-up".into()),
            (HopEvent::Queued, HopEvent::Transmitted) if from.device == to.device => {
                (StepKind::Queue, "queueing discipline".into())
            }
            (HopEvent::Transmitted, HopEvent::Queued) if same_host => down(from),
            (HopEvent::Transmitted, HopEvent::Received) => crossing(from),
            (HopEvent::Received, HopEvent::Received) if same_host => up(from, to),
            (HopEvent::Received, HopEvent::Queued) if same_host => self.through(from, to),
            _ => (StepKind::Other, "on the path".into()),
        }
    }

    fn through(&self, from: &HopPoint, to: &HopPoint) -> (StepKind, String) {
        let name = from.device.as_deref().and_then(host).unwrap_or("?");
        let at_bridge = |point: &HopPoint| point.kind.as_deref().is_some_and(is_bridge);
        if !at_bridge(from)
            && !at_bridge(to)
            && let Some(bridge) = self.bridges.get(name)
        {
            return (StepKind::Bridge, format!("bridge {bridge}"));
        }
        let translation = if self.translating.contains(&name) { " and SNAT" } else { "" };
        (StepKind::Forwarding, format!("forwarding{translation} on {name}"))
    }
}

fn down(from: &HopPoint) -> (StepKind, String) {
    match from.kind.as_deref() {
        Some(kind) if is_bridge(kind) => (StepKind::Bridge, format!("bridge {}", device(from))),
        Some(kind) if is_tunnel(kind) => {
            (StepKind::Encapsulation, tunnel_step(kind, ["encapsulation", "encryption"]))
        }
        _ => (StepKind::Other, "to the device below".into()),
    }
}

fn up(from: &HopPoint, to: &HopPoint) -> (StepKind, String) {
    match to.kind.as_deref() {
        Some(kind) if is_bridge(kind) => (StepKind::Bridge, format!("bridge {}", device(to))),
        Some(kind) if is_tunnel(kind) => {
            (StepKind::Decapsulation, tunnel_step(kind, ["decapsulation", "decryption"]))
        }
        _ if from.device == to.device => (StepKind::Other, "processed again".into()),
        _ => (StepKind::Other, "to the device above".into()),
    }
}

fn tunnel_step(tunnel: &str, [clear, encrypted]: [&str; 2]) -> String {
    match tunnel {
        "wireguard" => format!("WireGuard {encrypted}"),
        "xfrm" => format!("ESP {encrypted}"),
        _ => format!("{} {clear}", tunnel.to_uppercase()),
    }
}

fn crossing(from: &HopPoint) -> (StepKind, String) {
    let over = from.kind.as_deref().unwrap_or("the wire");
    (StepKind::Crossing, format!("over {over}"))
}

pub(crate) fn is_tunnel(kind: &str) -> bool {
    matches!(kind, "vxlan" | "geneve" | "gre" | "gretap" | "ipip" | "wireguard" | "xfrm")
}

fn is_bridge(kind: &str) -> bool {
    matches!(kind, "bridge" | "ovs")
}

fn device(point: &HopPoint) -> &str {
    point.device.as_deref().unwrap_or("?")
}

fn host(device: &str) -> Option<&str> {
    device.split_once(':').map(|(host, _)| host)
}
