//! Tests problems in `[probes]`.

use super::{changed, check_text};

fn with(name: &str, table: &str) -> String {
    changed(name, "[schedule]", &format!("[probes]\n{table}\n\n[schedule]"))
}

#[track_caller]
fn check(table: &str, at: &str, message: &str, help: &str) {
    check_text(&with("quick", table), at, message, help);
}

#[test]
fn suggests_nearest_probe() {
    let table = "kinds = [\"cpu\", \"sycalls\"]";
    check(table, table, "`sycalls` is not a valid value", "did you mean `syscalls`?");
    check("kinds = \"al\"", "kinds", "`al` is not a valid value", "`all`");
    check("kind = [\"cpu\"]", "kind", "unknown key `kind`", "did you mean `kinds`?");
    check("kinds = 3", "kinds = 3", "expected a list of probes or \"all\"", "");
}

#[test]
fn reports_duplicate_and_missing_probes() {
    let twice = "kinds = [\"cpu\", \"syscalls\", \"cpu\"]";
    check(twice, twice, "duplicate probe", "remove one of them");
    check("kinds = []", "kinds = []", "no probe is listed", "remove `[probes]`");
}

#[test]
fn reports_too_many_probed_blocks() {
    check(
        "trials = 21",
        "trials = 21",
        "21 blocks with probes, but the run has fewer blocks",
        "use 20 or fewer",
    );
    check("trials = 0", "trials = 0", "`trials` is 0", "use 1 or more");
}

#[test]
fn reports_probe_without_workload() {
    let table = "kinds = [\"packet-way\"]";
    let text = with("bridge-queues", table);
    check_text(&text, table, "no workload supports `packet-way`", "remove `packet-way`");
}
