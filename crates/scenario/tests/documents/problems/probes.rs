//! What trials are watched with.

use super::{changed, check_text};

/// A shipped scenario with this table before its schedule.
fn with(name: &str, table: &str) -> String {
    changed(name, "[schedule]", &format!("[probes]\n{table}\n\n[schedule]"))
}

#[track_caller]
fn check(table: &str, at: &str, message: &str, help: &str) {
    check_text(&with("quick", table), at, message, help);
}

#[test]
fn an_unknown_probe_gets_the_nearest() {
    let table = "kinds = [\"cpu\", \"sycalls\"]";
    check(table, table, "`sycalls` is not one of the words for this", "did you mean `syscalls`?");
    check("kinds = \"al\"", "kinds", "`al` is not one of the words for this", "`all`");
    check("kind = [\"cpu\"]", "kind", "unknown key `kind`", "did you mean `kinds`?");
    check("kinds = 3", "kinds = 3", "expected a list of probes or \"all\"", "");
}

#[test]
fn each_probe_is_named_once_and_at_least_one() {
    let twice = "kinds = [\"cpu\", \"syscalls\", \"cpu\"]";
    check(twice, twice, "this probe is named twice", "take one of them out");
    check("kinds = []", "kinds = []", "no probe is named", "take the table `probes` out");
}

#[test]
fn no_more_blocks_are_probed_than_there_are() {
    check("trials = 21", "trials = 21", "21 blocks cannot hold probed trials", "take 20 or less");
    check("trials = 0", "trials = 0", "out of range", "take 1 or more");
}

#[test]
fn a_probe_that_sees_nothing_is_refused() {
    let table = "kinds = [\"packet-way\"]";
    let text = with("bridge-queues", table);
    check_text(&text, table, "no workload has messages whose way can be followed", "take `packet-way` out");
}
