//! Replays memory records of virtual machines in the rebalancer, and shows them as a page.

use std::fs;

use plumb_tests::Sandbox;
use serde_json::{Value, json};

use super::sandbox;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
pub(crate) const CONFIG: &str = "capacity = \"2GiB\"\n\
    [vms.busy]\nqmp = \"/nowhere/busy\"\nslow-nodes = [1]\nfloor = \"512MiB\"\n\
    [vms.idle]\nqmp = \"/nowhere/idle\"\nslow-nodes = [1]\nfloor = \"512MiB\"\n";

/// A machine with 1 GiB of its 1.5 GiB in fast memory and a constant access rate. Half of the accessed memory is
/// on the slow node.
fn machine(name: &str, accessed: u64) -> Value {
    let node = |node: u64| {
        let classes =
            json!([{ "bytes": accessed / 2 * MIB, "accesses": 1000 }, { "bytes": 256 * MIB, "accesses": 0 }]);
        json!({ "node": node, "slow": node == 1, "size": 1024 * MIB, "free": 0, "accesses": classes })
    };
    json!({
        "name": name, "error": null, "method": "virtio-mem", "total": 1536 * MIB, "fast": 1024 * MIB, "slow": 1024 * MIB,
        "resident": null, "free": 0, "available": 100 * MIB, "swap_used": 0, "refaults_per_second": 0.0, "pressure": 0.0,
        "source": "damon", "no_accesses_reason": null, "dram_hits": 0.5, "telemetry_cpu": 0.01, "telemetry_host_cpu": null,
        "nodes": [node(0), node(1)],
    })
}

fn record(sandbox: &Sandbox) -> String {
    let look = |number: u64| {
        json!({
            "schema": 1, "at": format!("2026-11-25T01:00:{number:02}Z"), "interval": 1_000_000_000,
            "vms": [machine("busy", 1400), machine("idle", 100)],
        })
    };
    let lines: Vec<String> = (0..30).map(|number| look(number).to_string()).collect();
    sandbox.file("record.jsonl", &(lines.join("\n") + "\n{\"schema\":1,\"at\":"))
}

pub(crate) fn replays_a_record() {
    let sandbox = sandbox();
    let (record, config) = (record(&sandbox), sandbox.file("vms.toml", CONFIG));
    let output = sandbox.succeed(&["rebalance", &config, "--replay", &record]);
    assert!(output.out.contains("01:00:0") && output.out.contains("would move idle:"), "{}", output.out);
    let of = |vm: &str| {
        output.out.lines().find(|line| line.starts_with(&format!("{vm}: "))).expect("a sum").to_owned()
    };
    assert!(of("busy").contains("(1.00 GiB recorded)"), "{}", output.out);
    assert!(of("busy").starts_with("busy: 1.") && !of("idle").starts_with("idle: 1."), "{}", output.out);
    assert!(output.err.contains("line 31"), "the truncated line is reported: {}", output.err);

    let other = sandbox.file("others.toml", "[vms.web]\nqmp = \"/nowhere/web\"\n");
    let refused = sandbox.plumb(&["rebalance", &other, "--replay", &record]);
    assert!(refused.status == Some(64) && refused.err.contains("has no data about `web`"), "{refused:?}");
    let wrong = sandbox.file("wrong.jsonl", "{\"schema\": 1, \"vms\": 5}\n");
    let refused = sandbox.plumb(&["rebalance", &config, "--replay", &wrong]);
    assert!(refused.status == Some(1) && refused.err.contains("line 1 of"), "{refused:?}");
}

pub(crate) fn refuses_impossible_numbers() {
    let sandbox = sandbox();
    let config = sandbox.file("vms.toml", CONFIG);
    let most = json!(u64::MAX);
    let moved = json!({ "vm": "busy", "from": { "fast": 1, "slow": 0 }, "to": { "fast": 1, "slow": u64::MAX },
        "reason": { "below-floor": { "floor": 1 } } });
    let nodes = json!([{ "node": 0, "slow": false, "size": u64::MAX, "free": u64::MAX, "accesses": [] }]);
    let accesses = json!([{ "bytes": 1, "accesses": u64::MAX }, { "bytes": 1, "accesses": u64::MAX }]);
    let accessed = json!([{ "node": 0, "slow": false, "size": GIB, "free": 0, "accesses": accesses }]);
    for (field, value) in [
        ("fast", &most),
        ("slow", &most),
        ("total", &most),
        ("free", &most),
        ("available", &most),
        ("swap_used", &most),
        ("nodes", &nodes),
        ("nodes", &accessed),
        ("pressure", &json!(1e308)),
        ("dram_hits", &json!(-1.0)),
        ("refaults_per_second", &json!(-1e308)),
        ("moves", &json!([moved])),
    ] {
        let mut look = json!({
            "schema": 1, "at": "2026-11-25T01:00:00Z", "interval": 1_000_000_000, "vms": [machine("busy", 1400), machine("idle", 100)],
        });
        let honest = look.to_string();
        let place = if field == "moves" { &mut look } else { &mut look["vms"][0] };
        place[field] = value.clone();
        let record = sandbox.file("forged.jsonl", &format!("{honest}\n{look}\n"));
        for arguments in [&["rebalance", &config, "--replay", &record][..], &["memory", "report", &record]] {
            let refused = sandbox.plumb(arguments);
            let err = refused.err.replace("\n  │ ", " ");
            assert!(
                refused.status == Some(1) && err.contains("line 2 of") && err.contains("`busy`: invalid"),
                "{field}: {refused:?}"
            );
        }
    }
}

pub(crate) fn shows_a_record() {
    let sandbox = sandbox();
    let record = record(&sandbox);
    let text = sandbox.succeed(&["memory", "report", &record]).out;
    assert!(
        text.contains("Fast memory served 50.0 % of the accesses") && text.contains("30 samples"),
        "{text}"
    );
    let page = sandbox.home().join("page.html").display().to_string();
    let _ = sandbox.succeed(&["memory", "report", &record, "-o", &page]);
    let page = fs::read_to_string(page).expect("a page");
    assert!(page.contains("<svg") && page.contains("busy: accesses served by fast memory"), "{page}");
    let refused = sandbox.plumb(&["memory", "report", &sandbox.file("none", "")]);
    assert!(refused.status == Some(1) && refused.err.contains("contains no samples"), "{refused:?}");
}
