//! Measured paths, and the hints about them.

use std::path::{Path, PathBuf};

use plumb_tests::{Leftovers, Output, PATIENCE, pair, trials, wait_until};

use crate::node::Node;

const CPU_CGROUPS: &str = "/sys/fs/cgroup/cpu";

fn strings(value: &serde_json::Value, key: &str) -> Vec<String> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| item[key].as_str().map(str::to_owned)).collect()
}

pub(crate) fn two_namespaces_on_a_bridge() {
    let node = Node::with_bridge();
    let (before, settings) = (Leftovers::of(&node.sandbox), node.settings());
    let page = node.sandbox.home().join("path.html");
    let page = page.to_str().expect("a plain name");
    let [a, b] = ["a", "b"].map(|name| node.word(name));
    let output = node.between(&[&a, &b, "--report", page]);
    let shown = &output.out;
    let [from, to] = ["a", "b"].map(|name| format!("pid-{}", node.pid(name)));
    let wanted = [format!("{from}:eth0"), "node:va".to_owned(), "node:vb".to_owned(), format!("{to}:eth0")];
    let places: Vec<_> = wanted.iter().map(|device| shown.find(device.as_str())).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{wanted:?} in {shown}");
    assert!(shown.contains("port of br0") && shown.contains("MTU 1500"), "{shown}");
    assert!(shown.contains("Gbit/s") || shown.contains("Mbit/s"), "{shown}");
    let record = node.sandbox.record();
    for trial in trials(&record) {
        assert_eq!(strings(&trial["devices"], "device"), wanted, "{trial}");
        assert_eq!(strings(&trial["counters"]["devices"], "device"), wanted, "{trial}");
    }
    assert!(std::fs::read_to_string(page).is_ok_and(|page| page.contains("node:va")), "{output:?}");
    before.are_gone_within(PATIENCE);
    assert_eq!(node.settings(), settings, "no device, address, route or setting has changed");
}

pub(crate) fn namespaces_with_ipv6() {
    let node = Node::with_bridge();
    for (number, name) in [(1, "a"), (2, "b")] {
        node.shell_in(
            name,
            &format!("ip -4 addr flush dev eth0; ip addr add 2001:2::{number}/64 dev eth0 nodad"),
        );
    }
    let [a, b] = ["a", "b"].map(|name| node.word(name));
    let output = node.between(&[&a, &b, "--rate", "20M"]);
    for device in ["node:va", "node:vb"] {
        assert!(output.out.contains(device), "{device} in {output:?}");
    }
    assert_eq!(trials(&node.sandbox.record())[0]["path_check"]["mtu"], 1500);
    // The tunnel's overhead is 70 bytes.
    let overlay = pair(
        [&a, &b].map(|word| format!("at = \"{word}\"\ninterface = \"eth0\"")).each_ref().map(String::as_str),
        1,
        "300ms",
    )
    .replace("from = \"a\"\nto = \"b\"", "from = \"a:vx\"\nto = \"b:vx\"\nlayers = [\"vxlan\", \"network\"]")
        + "[vxlans.vx]\nvni = 9\nmembers.a.address = \"198.18.9.1/24\"\nmembers.b.address = \"198.18.9.2/24\"\n";
    let file = node.sandbox.file("overlay.toml", &overlay);
    let output = node.plumb(&["run", &file]);
    assert_eq!(output.status, Some(0), "{output:?}");
    assert_eq!(trials(&node.sandbox.record())[0]["path_check"]["mtu"], 1430);
}

pub(crate) fn the_node_and_a_named_namespace() {
    let node = Node::with_bridge();
    let blue = format!("netns:/proc/{}/ns/net", node.pid("b"));
    let output = node.between(&["local", &blue, "--udp", "--rate", "20M"]);
    let (shown, findings) = (&output.out, node.sandbox.findings("latest"));
    for device in ["local:br0", "node:vb", "net:eth0"] {
        assert!(shown.contains(device), "{device} in {shown}");
    }
    let results = findings["results"].as_array().expect("results");
    let rate = results.iter().filter_map(|result| result["value"]["estimate"].as_f64()).fold(0.0, f64::max);
    assert!((15e6..=20.5e6).contains(&rate), "{rate} bit/s of 20 Mbit/s: {findings}");
}

pub(crate) fn scenario_with_endpoints() {
    let node = Node::with_bridge();
    let at = |name: &str| format!("at = \"{}\"\ninterface = \"eth0\"", node.word(name));
    let file = node.sandbox.file("pair.toml", &pair([&at("a"), &at("b")], 1, "300ms"));
    let output = node.plumb(&["run", &file]);
    assert_eq!(output.status, Some(0), "{output:?}");
    let path = &node.sandbox.record()["header"]["paths"][0];
    assert_eq!((path["from"].as_str(), path["to"].as_str()), (Some("a:eth0"), Some("b:eth0")), "{path}");
}

pub(crate) fn small_mtu_of_the_nodes_device() {
    let node = Node::with_bridge();
    node.shell("ip link set vb mtu 1300");
    let [a, b] = ["a", "b"].map(|name| node.word(name));
    let output = node.between(&[&a, &b, "--rate", "1M"]);
    let lost = "node:vb loses the client's packets above 1300 bytes without an ICMP error";
    reports(&node, &output, "black-hole", lost, Some("ip link set vb mtu 1500"));
}

pub(crate) fn a_cpu_limit_of_a_parent() {
    let node = Node::with_bridge();
    let group = Cgroup::make(node.pid("a"));
    let [a, b] = ["a", "b"].map(|name| node.word(name));
    let output = node.between(&[&a, &b]);
    assert!(output.out.contains(&format!("{a} may use 0.1 CPUs")), "{output:?}");
    assert!(!output.out.contains("was throttled"), "the agent is outside the cgroup: {output:?}");
    let output = node.between(&[&a, &b, "--as-workload"]);
    assert!(output.out.contains(&format!("{a} was throttled for")), "{output:?}");
    assert!(
        output.err.contains("warning: the traffic uses CPU time and memory of the workloads"),
        "{output:?}"
    );
    drop(node);
    group.remove();
}

pub(crate) fn offload_of_the_nodes_device() {
    let node = Node::with_bridge();
    node.shell("ethtool -K va tso off gso off gro off tx off");
    let [a, b] = ["a", "b"].map(|name| node.word(name));
    let output = node.between(&[&a, &b]);
    let line = output.out.lines().find(|line| line.contains("node:va")).expect("the device is listed");
    assert!(line.contains("off: tx-tcp-segmentation, tx-generic-segmentation"), "{output:?}");
    reports(&node, &output, "offload-off", "Offloads of node:va are off", None);
}

/// Checks that the terminal and the stored findings show the same claim and command.
fn reports(node: &Node, output: &Output, rule: &str, claim: &str, command: Option<&str>) {
    let findings = node.sandbox.findings("latest");
    let all = findings["findings"].as_array().expect("a list");
    let found = all.iter().find(|finding| finding["id"] == rule).unwrap_or_else(|| panic!("{findings}"));
    let stored = found.to_string();
    // The short page shows only two findings, and those about a busy machine come first.
    let page = node.sandbox.succeed(&["report", "latest", "--full"]).out;
    let shown = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [Some(claim), command].into_iter().flatten() {
        assert!(stored.contains(text) && shown.contains(text), "{text}: {stored} {output:?}");
    }
}

struct Cgroup {
    parent: PathBuf,
    child: PathBuf,
}

impl Cgroup {
    /// Allows 1 ms of CPU time per 10 ms. A scheduler time slice is longer, so traffic exceeds the limit even
    /// on a busy machine.
    fn make(pid: u32) -> Self {
        let parent = Path::new(CPU_CGROUPS).join(format!("plumb-test-{pid}"));
        let child = parent.join("child");
        std::fs::create_dir_all(&child).expect("root may make cgroups");
        let write = |file: PathBuf, value: String| std::fs::write(file, value).expect("a file of the kernel");
        write(parent.join("cpu.cfs_period_us"), "10000".to_owned());
        write(parent.join("cpu.cfs_quota_us"), "1000".to_owned());
        write(child.join("cgroup.procs"), pid.to_string());
        Self { parent, child }
    }

    fn remove(self) {
        let removed =
            || std::fs::remove_dir(&self.child).is_ok() && std::fs::remove_dir(&self.parent).is_ok();
        assert!(wait_until(PATIENCE, removed), "{} is still used", self.child.display());
    }
}
