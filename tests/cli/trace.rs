//! Tests `plumb trace`: invalid requests, counts for programs with known system calls, and comparisons.

use std::process::{Command, Stdio};

use plumb_tests::Sandbox;
use serde_json::Value;

use crate::sandbox;

/// The program reads and writes this many single bytes and makes few other calls.
const BYTES: u64 = 2000;

fn dd() -> Vec<String> {
    let count = format!("count={BYTES}");
    ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "status=none", &count].map(str::to_owned).to_vec()
}

fn traced(sandbox: &Sandbox, flags: &[&str], program: &[String]) -> Value {
    let mut words = vec!["trace", "--json"];
    words.extend(flags);
    words.push("--");
    words.extend(program.iter().map(String::as_str));
    let output = sandbox.succeed(&words);
    let from = output.out.find("{\n").expect("a document");
    serde_json::from_str(&output.out[from..]).expect("JSON")
}

fn calls(trace: &Value, call: &str, value: &str) -> u64 {
    let all = trace["observed"]["syscalls"].as_array().expect("calls are an array");
    all.iter().filter(|count| count["call"] == call).filter_map(|count| count[value].as_u64()).sum()
}

pub(crate) fn refuses_programs_that_cannot_be_traced() {
    let sandbox = sandbox();
    let own = std::process::id().to_string();
    for (words, printed) in [
        (&["trace"][..], "--pid PID"),
        (&["trace", "--pid", "4194999"], "no process with PID 4194999"),
        (&["trace", "--pid", "one"], "invalid value 'one'"),
        (&["trace", "--netns", "no-such-netns"], "/run/netns/no-such-netns"),
        (&["trace", "--netns", "/proc/self/status"], "is not a namespace"),
        (&["trace", "--cgroup", "no/such.slice"], "no/such.slice"),
        (&["trace", "--qemu", "no-such-guest"], "no QEMU virtual machine `no-such-guest`"),
        (&["trace", "--pid", &own, "--qemu", "x"], "cannot be used with"),
        (&["trace", "--pid", &own, "--for", "0"], "--for 0"),
        (&["trace", "--pid", &own, "--output", "x.docx"], "is not supported"),
        (&["trace", "--pid", &own, "--output", "x.csv"], ".json, .md or .txt"),
        (&["trace", "--", "no-such-program"], "command `no-such-program` not found"),
        (&["trace", "--for", "1", "--", "true"], "cannot be used with"),
        (&["trace", "--compare", "a.json"], "2 values required"),
    ] {
        let output = sandbox.plumb(words);
        assert_eq!(output.status, Some(64), "{words:?}: {output:?}");
        assert!(output.err.contains(printed), "{words:?}: no `{printed}` in: {}", output.err);
    }
}

pub(crate) fn compares_only_traces() {
    let sandbox = sandbox();
    for (name, text, status, printed) in [
        ("none.txt", "just words\n", 64, "is not a trace"),
        ("run.json", "{\"header\":{}}", 64, "is not a trace"),
        (
            "other.json",
            "{\"schema\":99,\"tool\":\"9.9.9\",\"target\":{}}",
            64,
            "with schema 99, written by plumb 9.9.9",
        ),
        ("hollow.json", "{\"schema\":1,\"target\":{}}", 1, "but is not"),
        ("cut.json", "{\"schema\":1,", 1, "cannot read the trace"),
    ] {
        let file = sandbox.file(name, text);
        let output = sandbox.plumb(&["trace", "--compare", &file, &file]);
        assert_eq!(output.status, Some(status), "{name}: {output:?}");
        assert!(output.err.contains(name) && output.err.contains(printed), "{name}: {}", output.err);
    }
}

pub(crate) fn counts_calls_of_a_known_program_exactly() {
    let sandbox = sandbox();
    // Subtracts the reads for loading libraries and the locale.
    let nothing: Vec<String> = dd().into_iter().map(|word| word.replace(&BYTES.to_string(), "0")).collect();
    let (few, many) = (traced(&sandbox, &[], &nothing), traced(&sandbox, &[], &dd()));
    for call in ["read", "write"] {
        assert_eq!(calls(&many, call, "calls") - calls(&few, call, "calls"), BYTES, "{call}: {many}");
        assert_eq!(calls(&many, call, "bytes") - calls(&few, call, "bytes"), BYTES, "{call}: {many}");
    }
    assert_eq!(many["schema"], 1);
    assert_eq!(many["target"]["kind"], "command");
    assert_eq!(many["ended"], serde_json::json!({ "reason": "target-ended", "status": "status 0" }));
    assert!(many["observed"]["overflowed"].as_array().is_none_or(Vec::is_empty), "{many}");
}

pub(crate) fn counts_children_with_the_program() {
    let sandbox = sandbox();
    let shell = |copies: usize| {
        let copy = dd().join(" ");
        let all = vec![copy; copies].join(" & ");
        ["sh".to_owned(), "-c".to_owned(), format!("{all} & wait")].to_vec()
    };
    let (one, three) = (traced(&sandbox, &[], &shell(1)), traced(&sandbox, &[], &shell(3)));
    assert_eq!(calls(&one, "write", "calls"), BYTES, "{one}");
    assert_eq!(calls(&three, "write", "calls"), 3 * BYTES, "{three}");
}

pub(crate) fn reports_a_failing_program() {
    let sandbox = sandbox();
    let output = sandbox.plumb(&["trace", "--", "sh", "-c", "exit 7"]);
    assert_eq!(output.status, Some(7), "{output:?}");
    assert!(output.out.contains("It ended with status 7."), "{}", output.out);
    let killed = sandbox.plumb(&["trace", "--", "sh", "-c", "kill -KILL $$"]);
    assert_eq!(killed.status, Some(128 + 9), "{killed:?}");
    assert!(output.out.contains("System calls") && output.out.contains("exit 7"), "{}", output.out);
}

pub(crate) fn keeps_results_of_a_process_that_exits() {
    let sandbox = sandbox();
    let mut sleeper = Command::new("sh")
        .args(["-c", "for n in 1 2 3 4 5 6 7 8 9 10; do sleep 0.2; done"])
        .stdin(Stdio::null())
        .spawn()
        .expect("every system has it");
    let pid = sleeper.id().to_string();
    let waiter = std::thread::spawn(move || sleeper.wait());
    let output = sandbox.plumb(&["trace", "--pid", &pid, "--for", "60"]);
    let _ = waiter.join();
    assert_eq!(output.status, Some(0), "{output:?}");
    assert!(output.out.contains("It exited during the trace"), "{}", output.out);
}

pub(crate) fn shows_two_traces_side_by_side() {
    let sandbox = sandbox();
    let file = |name: &str| sandbox.home().join(name).display().to_string();
    let (a, b) = (file("a.json"), file("b.json"));
    for (path, program) in [(&a, dd()), (&b, ["true".to_owned()].to_vec())] {
        let words: Vec<&str> = program.iter().map(String::as_str).collect();
        let _ = sandbox.succeed(&[&["trace", "--output", path, "--"], &words[..]].concat());
    }
    let page = sandbox.succeed(&["trace", "--compare", &a, &b]).out;
    for part in ["Trace B vs trace A", "only one trace of each", "System calls", "read"] {
        assert!(page.contains(part), "no `{part}` in: {page}");
    }
    let same = sandbox.succeed(&["trace", "--compare", &a, &a, "--json"]).out;
    let same: Value = serde_json::from_str(&same).expect("JSON");
    assert!(same["environment_changes"].as_array().is_some_and(Vec::is_empty), "{same}");
    assert!(
        same["calls"].as_array().is_some_and(|calls| calls.iter().all(|call| call["rate_ratio"] == 1.0)),
        "{same}"
    );
}
