//! Tests two runs that compete for one interface.

use std::process::{Child, Command, Stdio};

use plumb_tests::{PATIENCE, first_two, signal, trials, wait_until, wire};
use serde_json::Value;

fn span(record: &Value) -> (u64, u64) {
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("no number: {value}"));
    let ends = trials(record).iter().map(|trial| {
        let started = number(&trial["started"]);
        (started, started + 300 + 400)
    });
    let (starts, ends): (Vec<u64>, Vec<u64>) = ends.unzip();
    (starts.into_iter().min().expect("a trial"), ends.into_iter().max().expect("a trial"))
}

pub(crate) fn two_runs_never_measure_at_once() {
    let network = crate::network(2);
    let start = |file: &str| {
        let mut command = network.command(&["run", file, "--quiet"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("plumb was built")
    };
    let runs = || network.sandbox.plumb(&["runs", "list"]).out.matches("two-machines").count();
    let file = network.sandbox.file("pair.toml", &first_two(3, "400ms"));
    // This run lasts until it is interrupted, even on a slow machine.
    let long = start(&network.sandbox.file("long.toml", &first_two(300, "400ms")));
    assert!(wait_until(PATIENCE, || runs() == 1), "the first run does not start");
    let refused = network.plumb(&["run", &file, "--no-wait"]);
    assert_eq!(refused.status, Some(1), "{refused:?}");
    assert!(refused.err.contains("eth0 of host a is reserved by two-machines-"), "{}", refused.err);
    signal(long.id(), "INT");
    long.wait_with_output().expect("it was started");
    let before = runs();
    // This run is long enough for the second run to start, even on a busy machine.
    let first = start(&network.sandbox.file("first.toml", &first_two(20, "400ms")));
    assert!(wait_until(PATIENCE, || runs() > before), "the next run does not start");
    let second = start(&file);
    let outputs = [first, second].map(|run| run.wait_with_output().expect("it was started"));
    let printed: Vec<String> =
        outputs.iter().map(|it| String::from_utf8_lossy(&it.stderr).into_owned()).collect();
    assert!(outputs.iter().all(|output| output.status.success()), "{printed:?}");
    assert!(printed.iter().any(|printed| printed.contains("waiting for eth0 of host a")), "{printed:?}");
    let spans: Vec<(u64, u64)> = outputs
        .iter()
        .map(|output| {
            let name = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            let raw = network.sandbox.succeed(&["report", &name, "--format", "raw"]).out;
            span(&serde_json::from_str(&raw).expect("a record is JSON"))
        })
        .collect();
    let [(one, one_end), (two, two_end)] = spans[..] else { panic!("two runs") };
    assert!(one_end <= two || two_end <= one, "{spans:?} overlap");
    network.agents_are_gone();
}

pub(crate) fn lab_and_run_warn_of_each_other() {
    let network = crate::network(2);
    let hosts = network.sandbox.file("pair.toml", &first_two(300, "500ms"));
    let lab = network.sandbox.file("lab.toml", &wire(300, "500ms"));
    let start = |mut run: Command| -> Child {
        run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("plumb was built")
    };
    let has_begun = |name: &str| {
        let begun = || network.sandbox.plumb(&["runs", "list"]).out.contains(name);
        assert!(wait_until(PATIENCE, begun), "{name} does not start");
    };
    let printed = |mut run: Child| {
        run.kill().expect("own file");
        let output = run.wait_with_output().expect("it was started");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let over_hosts = start(network.command(&["run", &hosts, "--plain"]));
    has_begun("two-machines");
    let in_lab = start(network.on_host(0, &["run", &lab, "--plain"]));
    has_begun("two-hosts");
    printed(over_hosts);
    let second = network.succeed(&["run", &hosts, "--plain", "--trials", "1"]);
    assert!(
        second.err.contains("note: two-hosts-") && second.err.contains("on host a and shares its CPUs"),
        "{}",
        second.err
    );
    assert!(!second.err.contains("on host b"), "{}", second.err);
    let printed = printed(in_lab);
    assert!(
        printed.contains("note: two-machines-") && printed.contains("is also measuring on this machine"),
        "{printed}"
    );
}
