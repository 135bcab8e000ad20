//! Checks a running lab with the kernel, tcpdump, iperf3 and ethtool.

use std::process::{Child, Command, Stdio};

use plumb_tests::{Leftovers, Sandbox, wait_until};

use crate::{PATIENCE, sandbox};

pub(crate) struct Standing<'a> {
    sandbox: &'a Sandbox,
    name: &'a str,
}

impl<'a> Standing<'a> {
    pub(crate) fn of(sandbox: &'a Sandbox, scenario: &str, name: &'a str) -> Self {
        let _ = sandbox.succeed(&["lab", "up", scenario, "--name", name]);
        Self { sandbox, name }
    }

    pub(crate) fn start(&self, host: &str, command: &[&str]) -> Child {
        let mut arguments = vec!["lab", "shell", host, "--lab", self.name, "--"];
        arguments.extend(command);
        let mut command = self.sandbox.command(&arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("plumb was built")
    }

    fn iperf3(&self, from: &str, to: &str, address: &str) -> serde_json::Value {
        let server = self.start(to, &["iperf3", "--server", "--one-off", "--json"]);
        // Port 5201 in state LISTEN.
        let listens = |line: &str| line.contains(":1451 ") && line.contains(" 0A ");
        let sockets = || self.sandbox.inside(to, &["cat", "/proc/net/tcp", "/proc/net/tcp6"]);
        assert!(wait_until(PATIENCE, || sockets().lines().any(listens)), "the server listens");
        let transfer = ["iperf3", "--client", address, "--bytes", "20M", "--connect-timeout", "3000"];
        let _ = self.sandbox.inside(from, &transfer);
        let output = server.wait_with_output().expect("the server was started");
        serde_json::from_slice(&output.stdout).expect("iperf3 prints JSON")
    }

    fn packets(&self, host: &str, device: &str) -> (u64, u64) {
        let table = self.sandbox.inside(host, &["cat", "/proc/net/dev"]);
        let line = table.lines().find_map(|line| line.trim().strip_prefix(&format!("{device}:")));
        let fields: Vec<u64> =
            line.expect("the device exists").split_whitespace().filter_map(|n| n.parse().ok()).collect();
        (fields[1], fields[9])
    }
}

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        let _ = self.sandbox.plumb(&["lab", "down", self.name]);
    }
}

pub(crate) fn underlay_carries_vxlan() {
    let sandbox = sandbox();
    let lab = Standing::of(&sandbox, "egress-gateway", "evidence");
    let capture =
        lab.start("egress", &["tcpdump", "-i", "eth0", "-n", "-c", "40", "-e", "--immediate-mode", "udp"]);
    let captures = || sandbox.inside("egress", &["cat", "/proc/net/packet"]).lines().count() > 1;
    assert!(wait_until(PATIENCE, captures), "tcpdump captures");
    let _ = lab.iperf3("app", "target", "198.18.2.2");
    let output = capture.wait_with_output().expect("tcpdump was started");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let tunnelled: Vec<&str> = printed.lines().filter(|line| line.contains("VXLAN")).collect();
    assert!(!tunnelled.is_empty(), "no VXLAN on the underlay: {printed}");
    assert!(
        printed.contains("198.18.1.1.")
            && printed.contains(" > 198.18.1.2.4789: VXLAN, flags [I] (0x08), vni 100"),
        "{printed}"
    );
    assert!(
        printed.contains("198.18.64.10.") && printed.contains(" > 198.18.2.2.5201"),
        "the inner addresses: {printed}"
    );
}

pub(crate) fn the_target_sees_the_egress_address() {
    let sandbox = sandbox();
    let lab = Standing::of(&sandbox, "egress-gateway", "egress");
    let seen = lab.iperf3("app", "target", "198.18.2.2");
    assert_eq!(seen["start"]["accepted_connection"]["host"], "198.18.2.100", "{seen}");
}

pub(crate) fn guests_on_one_bridge_never_use_the_wire() {
    let sandbox = sandbox();
    let lab = Standing::of(&sandbox, "quick", "bridge");
    let before = lab.packets("node1", "eth0");
    let sent = lab.iperf3("app", "web", "198.18.64.11");
    assert!(sent["end"]["sum_received"]["bytes"].as_u64() > Some(1_000_000), "{sent}");
    let after = lab.packets("node1", "eth0");
    // A few ARP packets may pass, but not megabytes.
    assert!(after.0 - before.0 < 10 && after.1 - before.1 < 10, "{before:?} to {after:?}");
}

pub(crate) fn ethtool_shows_the_offloads() {
    let sandbox = sandbox();
    let text = plumb_tests::wire(5, "1s")
        + "[devices.\"left:eth0\"]\ntso = \"off\"\ngro = \"off\"\ntx-checksum = \"on\"\n";
    let file = sandbox.file("offloads.toml", &text);
    let _lab = Standing::of(&sandbox, &file, "offloads");
    let features = sandbox.inside("left", &["ethtool", "-k", "eth0"]);
    for line in ["tcp-segmentation-offload: off", "generic-receive-offload: off", "tx-checksumming: on"] {
        assert!(features.contains(line), "no `{line}` in:\n{features}");
    }
    for line in features.lines().filter(|line| line.trim_start().starts_with("tx-tcp")) {
        assert!(line.contains(": off"), "with TSO off, every tx-tcp feature is off: {line}");
    }
    let other = sandbox.inside("right", &["ethtool", "-k", "eth0"]);
    assert!(other.contains("tcp-segmentation-offload: on"), "the other end is unchanged:\n{other}");
}

pub(crate) fn ethtool_shows_the_queues() {
    let sandbox = sandbox();
    let _lab = Standing::of(&sandbox, "bridge-queues", "queues");
    for (host, device) in [("client", "eth0"), ("pve", "server")] {
        let channels = sandbox.inside(host, &["ethtool", "-l", device]);
        let count =
            |word: &str| channels.lines().filter(|line| line.split_whitespace().eq([word, "4"])).count();
        assert_eq!((count("RX:"), count("TX:")), (2, 2), "{host}:{device}:\n{channels}");
    }
}

pub(crate) fn invisible_in_the_root_namespace() {
    let sandbox = sandbox();
    let before = Leftovers::of(&sandbox);
    let lab = Standing::of(&sandbox, "quick", "invisible");
    let during = Leftovers::of(&sandbox);
    assert_eq!(during.devices, before.devices);
    assert!(during.namespaces.len() > before.namespaces.len(), "the lab has its own namespaces");
    assert!(std::fs::read_dir("/run/netns").map_or(0, Iterator::count) == 0, "no namespace has a name");
    drop(lab);
    before.are_gone_within(PATIENCE);
}

pub(crate) fn two_labs_side_by_side() {
    let sandbox = sandbox();
    let one = Standing::of(&sandbox, "quick", "one");
    let _two = Standing::of(&sandbox, "quick", "two");
    let list = sandbox.succeed(&["lab", "list"]).out;
    assert!(list.contains("one ") && list.contains("two "), "{list}");
    let taken = sandbox.plumb(&["lab", "up", "quick", "--name", "one"]);
    assert_ne!(taken.status, Some(0), "{taken:?}");
    assert!(taken.err.contains("is already up"), "{}", taken.err);
    let inside = |lab: &str| {
        sandbox.succeed(&["lab", "shell", "node1", "--lab", lab, "--", "readlink", "/proc/self/ns/net"]).out
    };
    assert_ne!(inside("one"), inside("two"));
    drop(one);
    let unknown = sandbox.plumb(&["lab", "shell", "node9", "--", "true"]);
    assert!(unknown.err.contains("node1"), "the hosts are named: {}", unknown.err);
}

pub(crate) fn processes_in_a_removed_lab() {
    let sandbox = sandbox();
    let lab = Standing::of(&sandbox, "quick", "busy");
    let shell = |command: &str| {
        let started = sandbox.succeed(&["lab", "shell", "node1", "--", "sh", "-c", command]).out;
        started.trim().parse::<u32>().expect("prints its pid")
    };
    let own = shell("sleep 600 >/dev/null 2>&1 & echo $!");
    let foreign = shell("env -u PLUMB_LAB_HOLDER sleep 601 >/dev/null 2>&1 & echo $!");
    let down = sandbox.plumb(&["lab", "down", "busy"]);
    assert_eq!(down.status, Some(1), "{down:?}");
    assert!(down.out.contains(&format!("ended sleep (process {own})")), "{down:?}");
    assert!(down.err.contains(&format!("sleep (process {foreign}) still uses")), "{down:?}");
    assert!(down.err.contains("host node1"), "{down:?}");
    let _ = Command::new("kill").arg(foreign.to_string()).status().expect("procps has it");
    drop(lab);

    let up = sandbox.succeed(&["lab", "up", "quick"]).out;
    let orphan = shell("sleep 602 >/dev/null 2>&1 & echo $!");
    let holder = up.split("process ").nth(1).and_then(|rest| rest.split(')').next()).expect("is printed");
    let _ = Command::new("kill").args(["-KILL", holder]).status().expect("procps has it");
    let swept = || sandbox.succeed(&["lab", "gc"]).out;
    assert!(wait_until(PATIENCE, || swept().contains(&format!("ended sleep (process {orphan})"))));
}

pub(crate) fn lab_without_its_virtual_machines() {
    let sandbox = sandbox();
    let up = sandbox.succeed(&["lab", "up", "bridge-multiqueue"]).out;
    let _lab = Standing { sandbox: &sandbox, name: "bridge-multiqueue" };
    for vm in ["client", "server"] {
        let reported = format!("missing: virtual machine `{vm}`: only `plumb run` boots it");
        assert!(up.contains(&reported), "no `{reported}` in {up}");
    }
    let devices = sandbox.inside("pve", &["cat", "/proc/net/dev"]);
    assert!(devices.contains("client") && devices.contains("vmbr0"), "their ports exist: {devices}");
}
