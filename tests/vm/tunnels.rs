//! Tests that messages are followed through each kind of point-to-point tunnel, in the virtual hypervisor.

use plumb_tests::trials;
use serde_json::Value;

use crate::sandbox;

const KINDS: [&str; 5] = ["geneve", "gre", "gretap", "wireguard", "esp"];

/// In nanoseconds. Packets to the server are delayed by 15 to 25 ms.
const SHORTEST: f64 = 15e6;

const WIRE: &str = r#"schema = 1
name = "tunnels-of-each-kind"
title = "One tunnel of each kind"

[hosts.node1]
[hosts.node2]

[wires.underlay]
between = ["node1:eth0", "node2:eth0"]
addresses = ["198.18.1.1/24", "198.18.1.2/24"]

[wires.netkit]
between = ["node1:eth1", "node2:eth1"]
addresses = ["198.18.2.1/24", "198.18.2.2/24"]
pair = "netkit"

# Open vSwitch forwards to a pod behind a tunnel, and to a macvlan behind a wire.
[bridges.ovs0]
host = "node1"
kind = "ovs"
ports = ["eth2"]

[bridges.br0]
host = "node2"

[pods.near]
bridge = "ovs0"
address = "198.18.3.1/24"
pair = "netkit"

[pods.far]
bridge = "br0"
address = "198.18.3.2/24"

[hosts.node3]

[wires.uplink]
between = ["node1:eth2", "node3:eth0"]
addresses = ["none", "none"]
mtu = 1396

[macvlans.mv0]
host = "node3"
over = "eth0"
address = "198.18.3.3/24"

[tunnels.gnv1]
kind = "geneve"
id = 2
port = 6082
spi = 1000
mtu = 1396

[tunnels.gnv1.ends.node1]
over = "eth0"
bridge = "ovs0"

[tunnels.gnv1.ends.node2]
over = "eth0"
bridge = "br0"

[paths.macvlan]
from = "near"
to = "node3:mv0"
layers = ["netkit", "ovs", "wire", "macvlan"]

[paths.netkit]
from = "node1:eth1"
to = "node2:eth1"
layers = ["netkit"]

[paths.ovs]
from = "near"
to = "far"
layers = ["netkit", "ovs", "geneve", "esp", "wire", "bridge", "veth"]

[paths.wire]
from = "node1:eth0"
to = "node2:eth0"
layers = ["wire"]
baseline = true

[faults.far]
kind = "impairment"
delay = "20ms"
jitter = "5ms"

[devices."node1:eth0"]
fault = "far"

[workloads.latency]
kind = "ping-pong"
duration = "300ms"
warmup = "100ms"

[schedule]
trials = 2
pause = "1ms"
"#;

fn scenario() -> String {
    let tunnel = |(number, kind): (usize, &&str)| {
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

pub(crate) fn messages_are_followed() {
    let sandbox = sandbox();
    let file = sandbox.file("tunnels.toml", &scenario());
    for flag in ["-4", "-6"] {
        let output = sandbox.plumb(&["run", &file, flag, "--probe", "packet-way"]);
        assert_eq!(output.status, Some(0), "{output:?}");
        let raw = sandbox.succeed(&["report", "latest", "--format", "raw"]).out;
        let record: Value = serde_json::from_str(&raw).expect("a run record is JSON");
        if let Some(reason) = record["header"]["environment"]["inside"].as_str() {
            assert!(reason.starts_with("this machine cannot create a link of kind `"), "{reason}");
        }
        for result in sandbox.findings("latest")["results"].as_array().expect("a list") {
            if ["netkit", "macvlan"].iter().any(|path| result["path"] == *path) {
                continue; // They do not use the underlay.
            }
            let round_trip = result["value"]["estimate"].as_f64().expect("it was measured");
            assert!(round_trip >= SHORTEST, "{flag}: {round_trip} ns in {result:#}");
        }
        let paths = KINDS.map(|kind| (kind, ":eth0")).into_iter().chain([
            ("ovs", ":eth0"),
            ("netkit", ":eth1"),
            ("macvlan", "node3:eth0"),
        ]);
        for (path, wire) in paths {
            let is_probed =
                |trial: &&Value| trial["result"] == format!("{path}/latency") && trial["arm"] == "probed";
            let on_wire = trials(&record).iter().filter(is_probed).any(|trial| passes(trial, wire));
            assert!(on_wire, "{path} {flag}: messages are not seen on the wire");
        }
    }
}

fn passes(trial: &Value, device: &str) -> bool {
    let steps = trial["observed"]["latency_breakdown"]["steps"].as_array().expect("messages were followed");
    let mut points = steps.iter().flat_map(|step| [&step["from"], &step["to"]]);
    points.any(|point| point["device"].as_str().is_some_and(|at| at.ends_with(device)))
}
