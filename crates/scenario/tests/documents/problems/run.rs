//! Tests problems in paths, workloads, factors and the schedule.

use super::{changed, check, check_text, problems};

#[test]
fn reports_unknown_names_in_factors_and_workloads() {
    let (from, to) = ("workloads = [\"throughput\"]", "workloads = [\"thruput\"]");
    check("egress-gateway", (from, to), to, "unknown workload `thruput`", "`throughput`");
    let (from, to) = ("workloads = [\"throughput\"]", "paths = [\"node-to-nod\"]");
    check("egress-gateway", (from, to), to, "unknown path `node-to-nod`", "did you mean `node-to-node`?");
    let (from, to) = ("devices = [\"node1:eth0\"", "devices = [\"node1:eth7\"");
    check("egress-gateway", (from, to), to, "`node1` has no device `eth7`", "did you mean `eth0`?");
    let (from, to) = ("devices = [\"node1:eth0\"", "devices = [\"node1\"");
    check("egress-gateway", (from, to), to, "is not a device; write `host:device`", "");
    let (from, to) = ("placement = \"free\"", "paths = [\"x\"]");
    check("bridge-streams", (from, to), to, "unknown path `x`", "`guest-to-guest`");
}

#[test]
fn reports_factor_without_device_on_a_path() {
    let (from, to) =
        ("devices = [\"node1:eth0\", \"egress:eth0\"]", "devices = [\"node1:eth0\", \"egress:idle\"]");
    let idle = "[bridges.idle]\nhost = \"egress\"\n\n[pods.app]";
    let text = changed("egress-gateway", from, to).replacen("[pods.app]", idle, 1);
    check_text(&text, to, "no path of the factor `underlay-offload` uses `egress:idle`", "remove the device");
    let (from, to) = ("devices = [\"node1:eth0\", \"egress:eth0\"]\n", "");
    check("egress-gateway", (from, to), "vary = \"offload\"", "has no devices", "add `devices");
}

#[test]
fn reports_invalid_factor_values() {
    let (from, to) = ("values = [\"on\", \"off\"]", "values = [\"on\", \"of\"]");
    check("egress-gateway", (from, to), to, "`of` is not a valid value of `offload`", "did you mean `off`?");
    check("egress-gateway", (from, "values = [\"on\"]"), "values = [\"on\"]", "fewer than two values", "");
    check("egress-gateway", (from, "values = [\"on\", \"on\"]"), "values", "duplicate value `on`", "");
    check("bridge-streams", ("[1, 2,", "[0, 2,"), "[0, 2,", "0 streams are out of range", "1 to 1024");
    check(
        "bridge-streams",
        ("[1500, 9000]", "[1500, \"9k\"]"),
        "9k",
        "`9k` is not a valid value of `mtu`",
        "write an integer",
    );
}

#[test]
fn reports_factors_for_the_same_setting() {
    let more = "[factors.more]\nvary = \"tso\"\ndevices = [\"egress:eth0\"]\nvalues = [\"on\", \"off\"]\n\n[schedule]";
    let message = "the factors `underlay-offload` and `more` vary the same setting";
    check("egress-gateway", ("[schedule]", more), "vary = \"tso\"", message, "merge them");
    let (from, to) = ("vary = \"offload\"", "vary = \"ofload\"");
    check("egress-gateway", (from, to), to, "`ofload` is not a known setting", "did you mean `offload`?");
}

#[test]
fn reports_factor_without_effect() {
    let more = "[factors.more]\nvary = \"streams\"\nvalues = [1, 2]\nworkloads = [\"latency\"]\n\n[schedule]";
    check(
        "egress-gateway",
        ("[schedule]", more),
        "vary = \"streams\"",
        "the factor `more` has no effect",
        "",
    );
}

#[test]
fn reports_too_large_matrix() {
    let values: Vec<String> = (1..=100).map(|value| value.to_string()).collect();
    let more = format!(
        "[factors.more]\nvary = \"message\"\nvalues = [{}]\nworkloads = [\"throughput\"]\n\n\
         [factors.evenmore]\nvary = \"streams\"\nvalues = [{}]\n\n[schedule]",
        values.join(", "),
        values.join(", ")
    );
    check("egress-gateway", ("[schedule]", &more), "evenmore", "results; the limit is 2000", "restrict it");
}

#[test]
fn reports_zero_trials() {
    check(
        "quick",
        ("trials = 20", "trials = 0"),
        "trials = 0",
        "0 trials per result are out of range",
        "1 to 1000",
    );
}

#[test]
fn reports_missing_and_second_baseline() {
    check(
        "quick",
        ("baseline = true\n", ""),
        "[paths.",
        "no path is marked as the baseline",
        "add `baseline = true`",
    );
    let (from, to) =
        ("layers = [\"veth\", \"bridge\"]", "layers = [\"veth\", \"bridge\"]\nbaseline = true # again");
    check(
        "quick",
        (from, to),
        "# again",
        "`pod-to-pod` is a second baseline, after `node-to-node`",
        "one path only",
    );
}

#[test]
fn reports_workload_without_baseline() {
    let (from, to) = ("kind = \"stream\"", "kind = \"stream\"\npaths = [\"pod-to-pod\"]");
    check(
        "quick",
        (from, to),
        "paths = [",
        "does not run on the baseline path `node-to-node`",
        "add `node-to-node`",
    );
}

#[test]
fn reports_wrong_layers() {
    let (from, to) = ("layers = [\"vxlan\", \"wire\"]", "layers = [\"vxlan\", \"wire\", \"bridge\"]");
    check(
        "quick",
        (from, to),
        to,
        "packets on `vxlan-to-vxlan` do not pass through the layer `bridge`",
        "[\"vxlan\", \"wire\"]",
    );
    let (from, to) = ("layers = [\"vxlan\", \"wire\"]", "layers = [\"wire\"]");
    check("quick", (from, to), to, "pass through the undeclared layer `vxlan`", "[\"vxlan\", \"wire\"]");
}

#[test]
fn reports_path_within_a_host() {
    check(
        "quick",
        ("to = \"egress:vx0\"", "to = \"node1:eth0\""),
        "to = \"node1:eth0\"",
        "both ends",
        "connects two hosts",
    );
}

#[test]
fn reports_settings_of_other_workload_kinds() {
    let (from, to) = ("kind = \"ping-pong\"", "kind = \"ping-pong\"\nstreams = 2\ncongestion = \"bbr\"");
    check("quick", (from, to), "streams = 2", "`streams` has no effect here", "remove it");
    check("quick", (from, to), "congestion = \"bbr\"", "UDP has no congestion control", "remove it");
    let (from, to) = ("duration = \"300ms\"", "duration = \"300ms\"\nbytes = \"1GB\"");
    check("quick", (from, to), "bytes = \"1GB\"", "not both", "");
    check(
        "quick",
        ("kind = \"stream\"", "kind = \"stream\"\nmessage = 0"),
        "message = 0",
        "out of range",
        "1 to",
    );
}

#[test]
fn reports_invalid_adaptive_schedule() {
    let from = "[schedule]\ntrials = 10\nbudget = \"5m\"\nuntil = \"clear\"\n";
    let schedule = |line: &str| format!("[schedule]\n{line}\n");
    for (line, message, help) in [
        ("budget = \"100ms\"", "a budget of 100 ms is out of range", "e.g. `10m`"),
        ("budget = 10", "a time with its unit", ""),
        ("precision = \"80%\"", "a precision of 80.0 % is out of range", "e.g. `2%`"),
        ("precision = \"2\"", "has no unit", ""),
        ("objective = \"fast\"", "`fast` is not a valid value", ""),
        ("ports = \"fix\"", "`fix` is not a valid value", "did you mean `fixed`?"),
    ] {
        check("egress-gateway", (from, &schedule(line)), line, message, help);
    }
    for (line, help) in [("precision = \"2%\"", "remove one"), ("objective = \"max\"", "remove one")] {
        let both = schedule(&format!("until = \"clear\"\n{line}"));
        check("egress-gateway", (from, &both), line, "and `until` cannot be combined", help);
    }
    let few = schedule("precision = \"2%\"\ntrials = 4");
    check("egress-gateway", (from, &few), "trials = 4", "cannot be reached with 4 trials", "5 or more");
}

#[test]
fn reports_invalid_multiples() {
    let name = "bridge-queues";
    check(
        name,
        ("of = \"queues\"", "of = \"queue\""),
        "of =",
        "no factor named `queue` varies queues",
        "did you mean `queues`?",
    );
    check(name, ("of = \"queues\"", ""), "vary = \"streams\"", "`of` is missing", "of = \"queues\"");
    check(name, ("times = [1, 2, 4]", "times = [1]"), "times = [1]", "fewer than two values", "");
    check(name, ("times = [1, 2, 4]", "times = [2, 2]"), "times = [2, 2]", "duplicate value `2x`", "");
    check(name, ("most = 128", "most = 2000"), "most = 2000", "2000 streams are out of range", "");
    check(name, ("most = 128", "values = [1, 2]"), "values", "cannot be combined", "");
    check(name, ("values = [1, 2, 4]", "values = [0, 2]"), "values", "0 queues are out of range", "1 to 256");
    check(name, ("values = [1, 2, 4]", ""), "vary = \"queues\"", "`values` is missing", "");
    let (from, to) = ("vary = \"streams\"", "vary = \"message\"");
    check(name, (from, to), to, "`message` does not support multiples", "vary = \"streams\"");
}

#[test]
fn reports_invalid_ring_sizes() {
    let (name, from) = ("bridge-multiqueue", "[factors.streams]");
    let table = |settings: &str| format!("[devices.\"client:eth0\"]\n{settings}\n\n{from}");
    for (line, value) in [
        ("ring-size = 300", "300"),
        ("rx-ring = 16", "16"),
        ("tx-ring = \"64KiB\"", "64KiB"),
        ("rx-ring = 65536", "65536"),
    ] {
        let message = format!("`{value}` is not a valid value of");
        check(name, (from, &table(line)), line, &message, "a power of two from 32 to 32768");
    }
    let factor = |name: &str, word: &str| {
        format!("[factors.{name}]\nvary = \"{word}\"\ndevices = [\"client:eth0\"]\nvalues = [256, 512]\n\n")
    };
    let both = factor("one", "ring-size") + &factor("two", "tx-ring") + from;
    check(name, (from, &both), "vary = \"tx-ring\"", "`one` and `two` vary the same setting", "merge them");
}

#[test]
fn reports_invalid_coalescing() {
    let (name, from) = ("bridge-multiqueue", "[factors.streams]");
    let table = |settings: &str| format!("[devices.\"client:eth0\"]\n{settings}\n\n{from}");
    for (line, message, help) in [
        (
            "rx-usecs = \"50us\"",
            "`50us` is not a valid value of `rx-usecs`",
            "write an integer without a unit",
        ),
        ("tx-frames = 70000", "70000 packets are out of range", "use 0 to 65535"),
        ("adaptive-rx = 1", "`1` is not a valid value of `adaptive-rx`", "`on`, `off`"),
        ("rx-frame = 1", "`rx-frame`", "did you mean `rx-frames`"),
    ] {
        check(name, (from, &table(line)), line, message, help);
    }
    let factor = |name: &str, word: &str| {
        format!("[factors.{name}]\nvary = \"{word}\"\ndevices = [\"client:eth0\"]\nvalues = [0, 1]\n\n")
    };
    let twice =
        factor("one", "tx-frames") + &factor("other", "rx-frames") + &factor("two", "tx-frames") + from;
    let problems = problems(&changed(name, from, &twice));
    let messages: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages, ["the factors `one` and `two` vary the same setting"]);
}
