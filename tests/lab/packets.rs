//! Tests packet sizes and queues as seen by the devices, and the device settings during trials.

use plumb_tests::{Leftovers, trials, wire};
use serde_json::Value;

use crate::{PATIENCE, sandbox};

/// One and two queues, with and without segmentation offload. A veth has per-queue counters only with receive
/// offload.
const SETTINGS: &str = r#"
[devices."left:eth0"]
gro = "on"

[devices."right:eth0"]
gro = "on"

[factors.queues]
vary = "queues"
devices = ["left:eth0", "right:eth0"]
values = [1, 2]

[factors.tso]
vary = "tso"
devices = ["left:eth0", "right:eth0"]
values = ["on", "off"]

[schedule]"#;

pub(crate) fn counts_packets_by_size_and_queue() {
    let sandbox = sandbox();
    let before = Leftovers::of(&sandbox);
    let file = sandbox.file("sizes.toml", &wire(1, "300ms").replace("\n[schedule]", SETTINGS));
    let _ = sandbox.succeed(&["run", &file, "--probe", "none"]);
    let record = sandbox.record();
    let trials = trials(&record);
    assert!(trials.len() >= 4, "{}", trials.len());
    trials.iter().for_each(check_trial);
    let page = sandbox.succeed(&["report", "latest", "--format", "markdown"]).out;
    for part in ["## Packets on the path", "Segments per packet", "| in 1 ", "RPS", "Interrupts"] {
        assert!(page.contains(part), "{part} in {page}");
    }
    before.are_gone_within(PATIENCE);
}

fn check_trial(trial: &Value) {
    let result = trial["result"].as_str().expect("a name");
    let (large, queues) = (result.contains("tso=on"), if result.contains("queues=2") { 2 } else { 1 });
    for device in trial["devices"].as_array().expect("a list") {
        let spread = &device["spread"];
        let masks = |of: &str| spread[of].as_array().map_or(0, Vec::len);
        assert_eq!(masks("rps"), queues, "{result}: {device}");
        assert!(spread["interrupts"].is_null(), "a veth has no hardware: {spread}");
    }
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let intervals = trial["measurement"]["flows"][0]["sender"]["intervals"].as_array().expect("a list");
    let segments: u64 = intervals.iter().map(|interval| number(&interval["tcp"]["segments"])).sum();
    let [left, right] = [0, 1].map(|at| &trial["counters"]["devices"][at]);
    let packets = number(&left["tx_packets"]);
    let taken: Vec<u64> =
        right["rx_queues"].as_array().into_iter().flatten().map(|queue| number(&queue["packets"])).collect();
    if large {
        assert!(segments > 4 * packets && packets > 0, "{result}: {segments} segments in {packets} packets");
    } else {
        assert!(packets > segments / 2 && segments > 0, "{result}: {segments} segments in {packets} packets");
        assert_eq!(taken.len(), queues, "{result}: {right}");
        assert!(taken.iter().sum::<u64>() > packets / 2, "{result}: {taken:?} of {packets}");
    }
}
