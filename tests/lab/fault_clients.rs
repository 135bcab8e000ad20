//! `plumb client` and `plumb ping` against stock servers, over faults.

use plumb_tests::{Sandbox, wait_until};

use crate::{PATIENCE, sandbox};

const LAB: &str = r#"
schema = 1
name = "faulty"
title = "A switch with a fault"
hosts.client = {}
hosts.switch = {}
hosts.server = {}
wires.up = { between = ["client:eth0", "switch:p1"], addresses = ["198.18.0.1/24", "none"] }
wires.down = { between = ["switch:p2", "server:eth0"], addresses = ["none", "198.18.0.2/24"] }
bridges.br0 = { host = "switch", ports = ["p1", "p2"] }
paths.wire = { from = "client", to = "server", layers = ["wire", "bridge"], baseline = true }
workloads.load = { kind = "stream" }
"#;
const STREAM: &str = "client 198.18.0.2 -t 2 -C cubic";
const PING: &str = "ping 198.18.0.2 --sockperf -t 2";

/// They end by themselves.
const SERVERS: &str = "timeout 20 iperf3 -s & timeout 20 sockperf server & wait";

const CASES: &[(&str, &str, &str, &str)] = &[
    (
        "kind = \"queue-limit\", rate = \"20Mbit/s\", queue = \"256KiB\"",
        "client:eth0",
        STREAM,
        "of eth0 (tbf)",
    ),
    (
        "kind = \"policed-port\", rate = \"20Mbit/s\"",
        "client:eth0",
        "client 198.18.0.2 -t 2 -R",
        "20.0 Mbit/s",
    ),
    ("kind = \"mtu-hole\", mtu = 1400", "switch:p2", STREAM, "The stream stopped after"),
    ("kind = \"mtu-hole\", mtu = 1400", "switch:p2", "ping 198.18.0.2 --sockperf -t 2 -m 1450", "1372 bytes"),
    (
        "kind = \"policed-port\", rate = \"20Mbit/s\"",
        "client:eth0",
        "ping 198.18.0.2 --sockperf -t 2 -m 1400",
        "20.0 Mbit/s",
    ),
    ("kind = \"queue-limit\", rate = \"1Mbit/s\", queue = \"128KiB\"", "client:eth0", PING, "of eth0 (tbf)"),
];

pub(crate) fn last_lines_name_the_cause() {
    let mut wrong = Vec::new();
    for (fault, device, command, says) in CASES {
        let printed = printed(&sandbox(), fault, device, command);
        println!("  {fault} at {device}, {command}:\n{}", last_lines(&printed));
        if !printed.contains(says) {
            wrong.push(format!("{fault}, {command}: `{says}` is not in:\n{printed}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn printed(sandbox: &Sandbox, fault: &str, device: &str, command: &str) -> String {
    let faults = format!("faults.x = {{ {fault} }}\ndevices.\"{device}\".fault = \"x\"\n");
    let _ = sandbox.succeed(&["lab", "up", &sandbox.file("faulty.toml", &format!("{LAB}{faults}"))]);
    let servers = ["lab", "shell", "server", "--", "sh", "-c", SERVERS];
    let mut servers = sandbox.start(&servers);
    let listening = || sandbox.inside("server", &["ss", "-Hlntu"]).lines().count() >= 2;
    assert!(wait_until(PATIENCE, listening), "the servers listen");
    let arguments: Vec<&str> = command.split(' ').collect();
    let within = [&["lab", "shell", "client", "--", env!("CARGO_BIN_EXE_plumb")], &arguments[..]].concat();
    let output = sandbox.plumb(&within);
    let _ = sandbox.plumb(&["lab", "down"]);
    let _ = (servers.kill(), servers.wait());
    output.out + &output.err
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(6)..].join("\n")
}
