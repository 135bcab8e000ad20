//! Tests how runs over existing hosts end when they are disturbed.

use std::process::{Child, Stdio};

use plumb_tests::{Network, PATIENCE, first_two, name, processes, signal, trials, wait_until};

fn in_progress(network: &Network) -> Child {
    let file = network.sandbox.file("long.toml", &first_two(8, "700ms"));
    let mut command = network.command(&["run", &file]);
    let run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("plumb was built");
    assert!(wait_until(PATIENCE, || kept(network) >= 2), "no trial was stored");
    for host in [0, 1] {
        assert_eq!(network.agents(host).len(), 1, "an agent on h{host}");
    }
    run
}

fn kept(network: &Network) -> usize {
    let output = network.sandbox.plumb(&["report", "latest", "--format", "raw"]);
    serde_json::from_str::<serde_json::Value>(&output.out).map_or(0, |record| trials(&record).len())
}

pub(crate) fn killed_controller() {
    let network = crate::network(2);
    let mut run = in_progress(&network);
    run.kill().expect("SIGKILL can be sent");
    run.wait().expect("it was started");
    network.agents_are_gone();
    let there = kept(&network);
    assert!((2..16).contains(&there), "{there} trials are stored");
    let resumed = network.succeed(&["run", "--resume"]);
    assert!(!resumed.err.contains("[1/16]"), "finished trials are not repeated: {}", resumed.err);
    assert_eq!(kept(&network), 16);
}

pub(crate) fn killed_connection() {
    let network = crate::network(2);
    let run = in_progress(&network);
    let to_second = processes(&network.sandbox).into_iter().filter(|pid| name(*pid) == "ssh").find(|pid| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == b"h1")
    });
    signal(to_second.expect("a connection to h1"), "KILL");
    let output = run.wait_with_output().expect("it was started");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("lost the agent of host b") && printed.contains("--resume"), "{printed}");
    network.agents_are_gone();
}
