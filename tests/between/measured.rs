//! What is measured and shown.

use plumb_tests::{Leftovers, PATIENCE, trials};

use crate::node::Node;

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

pub(crate) fn offload_of_the_nodes_device() {
    let node = Node::with_bridge();
    node.shell("ethtool -K va tso off gso off gro off tx off");
    let [a, b] = ["a", "b"].map(|name| node.word(name));
    let output = node.between(&[&a, &b]);
    let line = output.out.lines().find(|line| line.contains("node:va")).expect("the device is listed");
    assert!(line.contains("off: tx, tso, gso"), "{output:?}");
    assert!(
        output.out.contains("Offloads of node:va are off") && output.out.contains("ethtool -K va"),
        "{output:?}"
    );
}
