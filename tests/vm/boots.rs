//! Tests guests that boot: their properties and their cleanup.

use std::{thread, time::Duration};

use plumb_tests::Sandbox;
use serde_json::{Value, json};

use crate::{remains::Remains, sandbox};

/// The number of guests per CPU on an ordinary CI machine. `make soak` kills hundreds.
const GUESTS: usize = 10;
const ROWS: usize = 2;

pub(crate) fn boot(sandbox: &Sandbox, flags: &[&str]) -> Value {
    let arguments = [&["vm", "run", "--json"], flags].concat();
    let output = sandbox.plumb(&arguments);
    assert_eq!(output.status, Some(0), "plumb {arguments:?}: {output:?}");
    serde_json::from_str(&output.out).expect("a JSON document")
}

pub(crate) fn ready(document: &Value) -> Duration {
    Duration::from_nanos(document["ready_within"].as_u64().expect("nanoseconds"))
}

pub(crate) fn every_board_boots_and_probes() {
    for (board, cpus) in [("q35", 2), ("microvm", 1)] {
        let sandbox = sandbox();
        let flags = ["--board", board, "--vcpus", &cpus.to_string(), "--memory", "384M"];
        let document = boot(&sandbox, &flags);
        let guest = &document["environment"];
        let release = guest["kernel"].as_str().expect("text");
        let installed = format!("/lib/modules/{release}/modules.dep");
        assert!(
            std::path::Path::new(&installed).exists(),
            "the guest's kernel is an installed one: {release}"
        );
        assert_eq!(guest["cpus"], json!(cpus), "{document}");
        assert_eq!(guest["virtual_machine"], json!(true), "{document}");
        assert_eq!(document["missing_probes"], json!([]), "{document}");
        assert_eq!(document["vm"]["board"], json!(board));
        assert_eq!(guest["clock_source"], json!(clock(&document)), "{document}");
        let booted = Duration::from_nanos(document["booted_within"].as_u64().expect("nanoseconds"));
        let share = ready(&document).as_secs_f64() / booted.as_secs_f64();
        println!(
            "{board}, {release}: first process after {booted:.2?}, agent ready {share:.2} times as late"
        );
    }
}

/// Any other clock source needs a system call per reading or has a resolution of one tick.
fn clock(document: &Value) -> &'static str {
    if document["accelerator"] == "kvm" { "kvm-clock" } else { "tsc" }
}

pub(crate) fn guests_in_a_row_leave_nothing() {
    let before = Remains::now();
    let sandbox = sandbox();
    thread::scope(|scope| {
        for _ in 0..ROWS {
            scope.spawn(|| {
                for _ in 0..GUESTS / ROWS {
                    let _ = boot(&sandbox, &["--board", "microvm", "--probe", "none", "--memory", "256M"]);
                }
            });
        }
    });
    before.is_all_there_is(&sandbox);
}
