//! Tests point-to-point tunnels in the virtual hypervisor: their overhead, and in which ones messages can be followed.

use plumb_tests::trials;
use serde_json::Value;

use crate::{measured::number, sandbox};

/// Each kind with the bytes that it adds over IPv4 and IPv6 to what its device counts: inner IP packets, or WireGuard's
/// messages. The test does not cover the header, padding and tag of WireGuard's messages. The lengths of all inner packets
/// are multiples of 4, so ESP pads them with 2 bytes.
const KINDS: [(&str, [u64; 2]); 5] = [
    ("geneve", [50, 70]),
    ("gre", [24, 52]),
    ("gretap", [38, 66]),
    ("wireguard", [28, 48]),
    ("esp", [56, 76]),
];
/// The Ethernet header, which the wire counts.
const ETHERNET: u64 = 14;
const ENCRYPTED: [&str; 2] = ["wireguard", "esp"];

const WIRE: &str = r#"schema = 1
name = "tunnels-of-each-kind"
title = "One tunnel of each kind"

[hosts.node1]
[hosts.node2]

[wires.underlay]
between = ["node1:eth0", "node2:eth0"]
addresses = ["198.18.1.1/24", "198.18.1.2/24"]

[paths.wire]
from = "node1:eth0"
to = "node2:eth0"
layers = ["wire"]
baseline = true

[workloads.latency]
kind = "ping-pong"
duration = "300ms"
warmup = "100ms"

[schedule]
trials = 2
pause = "1ms"
"#;

fn scenario() -> String {
    let tunnel = |(number, (kind, _)): (usize, &(&str, [u64; 2]))| {
        let end = |host: usize| {
            format!(
                "[tunnels.t-{kind}.ends.node{host}]\nover = \"eth0\"\naddress = \"198.18.{}.{host}/24\"\n",
                50 + number
            )
        };
        format!(
            "[tunnels.t-{kind}]\nkind = \"{kind}\"\n{}{}[paths.{kind}]\nfrom = \"node1:t-{kind}\"\n\
             to = \"node2:t-{kind}\"\nlayers = [\"{kind}\", \"wire\"]\n",
            end(1),
            end(2)
        )
    };
    WIRE.to_owned() + &KINDS.iter().enumerate().map(tunnel).collect::<String>()
}

pub(crate) fn headers_have_documented_lengths_and_messages_are_followed_in_clear_text() {
    let sandbox = sandbox();
    let file = sandbox.file("tunnels.toml", &scenario());
    for (family, flag) in ["-4", "-6"].into_iter().enumerate() {
        let output = sandbox.plumb(&["run", &file, flag, "--probe", "packet-way"]);
        assert_eq!(output.status, Some(0), "{output:?}");
        let raw = sandbox.succeed(&["report", "latest", "--format", "raw"]).out;
        let record: Value = serde_json::from_str(&raw).expect("a run record is JSON");
        if let Some(reason) = record["header"]["environment"]["inside"].as_str() {
            assert!(reason.starts_with("this machine cannot create `"), "{reason}");
        }
        for (kind, added) in KINDS {
            let of_kind = trials(&record).iter().filter(|trial| trial["result"] == format!("{kind}/latency"));
            let of_kind: Vec<&Value> = of_kind.collect();
            let found: Vec<(u64, u64)> =
                of_kind.iter().filter_map(|trial| added_bytes(trial, kind)).collect();
            assert!(!found.is_empty(), "other packets on the wire in each trial of {kind}: {record:#}");
            for (packets, bytes) in found {
                assert_eq!(bytes, packets * (ETHERNET + added[family]), "{kind} {flag}: {packets} packets");
            }
            let on_wire =
                of_kind.iter().filter(|trial| trial["arm"] == "probed").any(|trial| sees_wire(trial));
            assert_eq!(on_wire, !ENCRYPTED.contains(&kind), "{kind} {flag}: messages on the wire");
        }
    }
}

/// Returns the packets of a trial in which only the tunnel's packets passed the wire, and the bytes added to them.
fn added_bytes(trial: &Value, kind: &str) -> Option<(u64, u64)> {
    let devices = trial["counters"]["devices"].as_array().expect("a list");
    let sent = |name: &str| {
        let device = devices.iter().find(|device| device["device"] == name).expect("it is on the path");
        ["tx_packets", "tx_bytes"].map(|counter| number(&device[counter]))
    };
    let ([packets, inner], [frames, outer]) = (sent(&format!("node2:t-{kind}")), sent("node2:eth0"));
    (packets == frames && packets > 3).then_some((packets, outer - inner))
}

fn sees_wire(trial: &Value) -> bool {
    let steps = trial["observed"]["latency_breakdown"]["steps"].as_array().expect("messages were followed");
    let mut points = steps.iter().flat_map(|step| [&step["from"], &step["to"]]);
    assert!(steps.len() > 1, "{trial:#}");
    points.any(|point| point["device"].as_str().is_some_and(|at| at.ends_with(":eth0")))
}
