//! `plumb client` and `plumb ping` against stock servers, over faulty paths.

use std::{fs, path::PathBuf};

use plumb_tests::{Need, Sandbox, wait_until};

use crate::{PATIENCE, sandbox};

const SWITCH: &str = r#"
hosts.client = {}
hosts.switch = {}
hosts.server = {}
wires.up = { between = ["client:eth0", "switch:p1"], addresses = ["198.18.0.1/24", "none"] }
wires.down = { between = ["switch:p2", "server:eth0"], addresses = ["none", "198.18.0.2/24"] }
bridges.br0 = { host = "switch", ports = ["p1", "p2"] }
paths.path = { from = "client", to = "server", layers = ["wire", "bridge"], baseline = true }
"#;
/// The small MTU is between the routers, because TCP adapts its segment size to the MTU of the server's own wire.
const ROUTERS: &str = r#"
hosts.client = {}
hosts.near = {}
hosts.far = {}
hosts.server = {}
wires.up = { between = ["client:eth0", "near:eth0"], addresses = ["198.18.1.1/24", "198.18.1.2/24"] }
wires.middle = { between = ["near:eth1", "far:eth0"], addresses = ["198.18.2.1/24", "198.18.2.2/24"], mtu = 1400 }
wires.down = { between = ["far:eth1", "server:eth0"], addresses = ["198.18.0.1/24", "198.18.0.2/24"] }
routes = [
    { host = "client", to = "198.18.0.0/24", via = "198.18.1.2" },
    { host = "near", to = "198.18.0.0/24", via = "198.18.2.2" },
    { host = "far", to = "198.18.1.0/24", via = "198.18.2.1" },
    { host = "server", to = "198.18.1.0/24", via = "198.18.0.1" },
]
paths.path = { from = "client", to = "server", layers = ["wire"], baseline = true }
"#;
const STREAM: &str = "client 198.18.0.2 -t 2 -C cubic";
const PING: &str = "ping 198.18.0.2 --sockperf -t 2";
const PING_OF_1450: &str = "ping 198.18.0.2 --sockperf -t 2 -m 1450";

const SERVERS: &str = "timeout 20 iperf3 -s & timeout 20 sockperf server & wait";

const MTU_HOLE: &str = "kind = \"mtu-hole\", mtu = 1400";
const ICMP_HOLE: &str = "kind = \"icmp-hole\"";
const POLICER: &str = "kind = \"policed-port\", rate = \"20Mbit/s\"";
const QUEUE: &str = "kind = \"queue-limit\", rate = \"20Mbit/s\", queue = \"256KiB\"";
const SLOW_QUEUE: &str = "kind = \"queue-limit\", rate = \"1Mbit/s\", queue = \"128KiB\"";

/// Each case has a lab, a fault, its device, a command, and a part of the command's last lines.
const CASES: &[(&str, &str, &str, &str, &str)] = &[
    (SWITCH, QUEUE, "client:eth0", STREAM, "of eth0 (tbf)"),
    (SWITCH, SLOW_QUEUE, "client:eth0", PING, "of eth0 (tbf)"),
    (SWITCH, POLICER, "client:eth0", "client 198.18.0.2 -t 2 -R", "20.0 Mbit/s"),
    (SWITCH, POLICER, "client:eth0", "ping 198.18.0.2 --sockperf -t 2 -m 1400", "20.0 Mbit/s"),
    (SWITCH, MTU_HOLE, "switch:p2", STREAM, "The stream stopped after"),
    (SWITCH, MTU_HOLE, "switch:p2", PING_OF_1450, "1372 bytes"),
    (ROUTERS, ICMP_HOLE, "near:eth0", STREAM, "The stream stopped after"),
    (ROUTERS, ICMP_HOLE, "near:eth0", PING_OF_1450, "1372 bytes"),
];

/// The tests create cgroups (version 1) themselves, because plumb creates none for commands in a lab.
const CPU_CGROUPS: &str = "/sys/fs/cgroup/cpu";
pub(crate) const CPU_LIMITS: Need =
    Need::File("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "cgroups of version 1 with CPU limits");

pub(crate) fn last_lines_name_the_cause() {
    let mut wrong = Vec::new();
    for (lab, fault, device, command, says) in CASES {
        let faults = format!("faults.x = {{ {fault} }}\ndevices.\"{device}\".fault = \"x\"\n");
        let printed = printed(&sandbox(), &format!("{lab}{faults}"), command, None);
        println!("  {fault} at {device}, {command}:\n{}", last_lines(&printed));
        if !printed.contains(says) {
            wrong.push(format!("{fault}, {command}: `{says}` is not in:\n{printed}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

pub(crate) fn last_lines_name_the_cpu_limit() {
    for command in [STREAM, PING] {
        let limited = LimitedCgroup::new();
        let printed = printed(&sandbox(), SWITCH, command, Some(&limited));
        println!("  CPU limit of the client, {command}:\n{}", last_lines(&printed));
        assert!(printed.contains("The client used up its CPU quota in"), "{printed}");
    }
}

struct LimitedCgroup(PathBuf);

impl LimitedCgroup {
    fn new() -> Self {
        let group = PathBuf::from(CPU_CGROUPS).join(format!("plumb-test-{}", std::process::id()));
        fs::create_dir(&group).expect("root may create cgroups");
        for (file, microseconds) in [("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "5000")] {
            fs::write(group.join(file), microseconds).expect("a file of the kernel");
        }
        Self(group)
    }
}

impl Drop for LimitedCgroup {
    fn drop(&mut self) {
        let _ = wait_until(PATIENCE, || fs::remove_dir(&self.0).is_ok());
    }
}

fn printed(sandbox: &Sandbox, lab: &str, command: &str, limited: Option<&LimitedCgroup>) -> String {
    let scenario = format!(
        "schema = 1\nname = \"faulty\"\ntitle = \"A fault\"\n{lab}\nworkloads.load = {{ kind = \"stream\" }}\n"
    );
    let _ = sandbox.succeed(&["lab", "up", &sandbox.file("faulty.toml", &scenario)]);
    let servers = ["lab", "shell", "server", "--", "sh", "-c", SERVERS];
    let mut servers = sandbox.start(&servers);
    let listening = || sandbox.inside("server", &["ss", "-Hlntu"]).lines().count() >= 2;
    assert!(wait_until(PATIENCE, listening), "the servers listen");
    let join = limited.map(|group| format!("echo 0 > {}/cgroup.procs; ", group.0.display()));
    let join = join.unwrap_or_default();
    let typed = format!("{join}exec {} {command}", env!("CARGO_BIN_EXE_plumb"));
    let output = sandbox.plumb(&["lab", "shell", "client", "--", "sh", "-c", &typed]);
    let _ = sandbox.plumb(&["lab", "down"]);
    let _ = (servers.kill(), servers.wait());
    output.out + &output.err
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(6)..].join("\n")
}
