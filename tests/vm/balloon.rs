//! Takes memory from real guests and returns it, with each method.

use serde_json::Value;

use crate::sandbox;

/// The fraction of the moved memory that must be visible on the host. The guest's kernel uses some of the memory, and
/// each page that the guest touches again may cost the host a huge page.
const NEARLY_ALL: f64 = 0.75;
/// The fraction of touched memory that must become resident. Huge pages that also hold other guest pages
/// already are.
const MOST: f64 = 0.5;
const NEXT_TO_NOTHING: f64 = 0.2;

pub(crate) fn three_methods_move_the_requested_amount() {
    let sandbox = sandbox();
    // On a busy machine, the scenario's time budget may run out before every result has a trial.
    let _ = sandbox.succeed(&["run", "balloon", "--trials", "1", "--budget", "1h", "--probe", "syscalls"]);
    let findings = sandbox.findings("latest");
    let result = |id: &str| -> &Value {
        let results = findings["results"].as_array().expect("results");
        results
            .iter()
            .find(|result| result["id"] == id)
            .unwrap_or_else(|| panic!("no {id}: {}", findings["skipped"]))
    };
    for method in ["virtio-balloon", "virtio-mem", "agent"] {
        let [shrink, untouched, grow] =
            ["shrink", "shrink-untouched", "grow"].map(|workload| result(&format!("{method}/{workload}")));
        assert_eq!(shrink["measured"]["method"], method);
        for result in [shrink, untouched, grow] {
            assert!(result["value"]["estimate"].as_f64() > Some(0.0), "{result}");
        }
        let resident =
            |result: &Value| result["measured"]["resident_per_byte"].as_f64().expect("it was read");
        assert!(resident(shrink) > NEARLY_ALL, "taken memory is free on the host: {shrink}");
        assert!(resident(grow) > MOST, "touched memory is back: {grow}");
        assert!(resident(untouched) < NEXT_TO_NOTHING, "there was nothing to free: {untouched}");
        assert!(grow["measured"]["touching"].as_f64() > Some(0.0), "the guest touched it: {grow}");
    }
    // On any machine, virtio-balloon frees each page with its own call, and the agent frees many blocks with one call.
    let made = |method: &str| &result(&format!("{method}/shrink"))["probed"]["calls"];
    let calls = |method: &str| {
        made(method)["all"].as_f64().unwrap_or_else(|| panic!("no calls of {method}: {}", findings["probes"]))
    };
    let freeing = |method: &str| -> f64 {
        let frees = |one: &&Value| ["fallocate", "madvise"].iter().any(|call| one["count"]["call"] == *call);
        let all = made(method)["processes"].as_array().expect("a list");
        all.iter().filter(frees).filter_map(|one| one["rate"].as_f64()).sum()
    };
    let [pages, blocks, agent] = ["virtio-balloon", "virtio-mem", "agent"].map(calls);
    assert!(pages > 262_144.0, "each of a GiB's pages is freed by a call: {pages}");
    let by_pages = freeing("virtio-balloon");
    assert!(by_pages > 262_144.0 && freeing("agent") < by_pages / 100.0, "{}", made("agent"));
    // The other calls come from plumb's sampling and from the guest's timer, which the monitor emulates without KVM.
    // Longer trials have more samples and more timer events.
    assert!(agent < pages / 2.0 && blocks < pages / 2.0, "{pages} {blocks} {agent}");
}

pub(crate) fn refuses_machines_that_cannot_give_memory() {
    let sandbox = sandbox();
    let shipped = sandbox.succeed(&["scenario", "show", "balloon"]).out;
    for (from, to, printed) in [
        ("balloon = \"agent\"", "", "`agent` does not support ballooning"),
        ("memory = \"128MiB\"\n\n#", "memory = \"900MiB\"\n\n#", "cannot give up 900 MiB with virtio-mem"),
        ("memory = \"128MiB\"\n\n#", "memory = \"255MiB\"\n\n#", "multiple of 2 MiB"),
        (
            "balloon = \"virtio-mem\"",
            "balloon = \"virtio-mem\"\nboard = \"microvm\"",
            "is not supported here",
        ),
        ("balloon = \"agent\"", "balloon = \"agent\"\nmonitor = \"firecracker\"", "is not supported here"),
        ("move = \"grow\"", "move = \"grow\"\nduration = \"2s\"", "`duration` has no effect here"),
    ] {
        assert!(shipped.contains(from), "{from}");
        let output =
            sandbox.plumb(&["scenario", "check", &sandbox.file("it.toml", &shipped.replacen(from, to, 1))]);
        let err = output.err.replace("\n  │ ", " ");
        assert!(output.status != Some(0) && err.contains(printed), "{to}: {err}");
    }
}

/// Takes random amounts of memory through the agent. A trial that finds changed memory fails the run.
pub(crate) fn memory_is_intact_after_cycles_with_compaction() {
    let sandbox = sandbox();
    let file = sandbox.file("cycles.toml", &plumb_tests::compaction_cycles(5));
    let _ = sandbox.succeed(&["run", &file, "--trials", "1"]);
    let findings = sandbox.findings("latest");
    let results = findings["results"].as_array().expect("results");
    assert_eq!(results.len(), 5, "{}", findings["skipped"]);
    for result in results {
        assert!(result["value"]["estimate"].as_f64() > Some(0.0), "{result}");
    }
}
