//! Tests watches of a real scenario: comparison with a reference, hooks, metrics, and the traffic budget.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::Stdio,
};

use plumb_tests::{Leftovers, Output, Sandbox, in_one_of_three, kills::kept, signal, wait_until, wire};
use serde_json::Value;

use crate::{PATIENCE, sandbox};

fn plan(sandbox: &Sandbox, more: &str) -> String {
    let every = "every = \"1min\"\njitter = \"59s\"\n";
    sandbox.file("plan.toml", &format!("[[measure]]\nscenario = \"./wire.toml\"\n{every}{more}"))
}

fn once(sandbox: &Sandbox, plan: &str) -> (Output, Value) {
    let output = sandbox.plumb(&["watch", plan, "--once", "--json"]);
    let document = serde_json::from_str(&output.out).unwrap_or_else(|_| panic!("one document: {output:?}"));
    (output, document)
}

pub(crate) fn reports_a_loss_and_respects_the_budget() {
    in_one_of_three(watched);
}

fn watched() {
    let sandbox = sandbox();
    let _ = sandbox.file("wire.toml", &wire(6, "300ms"));
    let file = plan(&sandbox, "");
    let (output, first) = once(&sandbox, &file);
    assert_eq!((output.status, &first["verdict"]), (Some(0), &"first".into()), "{output:?}");
    let bytes = first["bytes"].as_u64().expect("bytes are counted");
    let median = first["results"][0]["value"]["estimate"].as_f64().expect("a rate");
    // A trial lasts 400 ms, including its warm-up. Repeated trials count too.
    let record = sandbox.record();
    let trials = record["trials"].as_array().expect("a list");
    let made: usize = trials.iter().map(|trial| 1 + trial["discarded"].as_array().map_or(0, Vec::len)).sum();
    let sent = bytes as f64 * 8.0 / (made as f64 * 0.4);
    assert!((0.5..2.0).contains(&(sent / median)), "{sent} of {median}");
    assert_eq!(first["bytes_today"], first["bytes"]);

    let (_, second) = once(&sandbox, &file);
    assert_eq!(second["reference"], first["run"], "the second is compared with the first: {second}");
    assert!(second["results"][0]["ratio"].as_f64().is_some(), "{second}");
    assert!(second["bytes_today"].as_u64() > Some(bytes), "a new process knows of the first");

    three_times_as_fast(&sandbox);
    let home = sandbox.home().display();
    let hook = format!(
        "baseline = \"main\"\n[alert]\nhook = [\"sh\", \"-c\", \"cat > {home}/alert; echo $PLUMB_ALERT $PLUMB_RUN > {home}/names\"]\n"
    );
    let (output, third) = once(&sandbox, &plan(&sandbox, &hook));
    if output.status == Some(2) {
        // No hook runs if the competing load is too high.
        let reason = third["gate"]["undecided"][0]["reason"].as_str().unwrap_or_default();
        let causes = ["Other work used the CPUs", "The noise between two runs"];
        assert!(causes.iter().any(|cause| reason.starts_with(cause)), "{output:?}");
        assert!(third["alert"].is_null() && !sandbox.home().join("alert").exists(), "{output:?}");
        return;
    }
    assert_eq!(
        (output.status, &third["verdict"], &third["alert"]),
        (Some(1), &"regressed".into(), &"regression".into()),
        "{output:?}"
    );
    let reported: Value =
        serde_json::from_str(&fs::read_to_string(sandbox.home().join("alert")).expect("the hook ran"))
            .expect("a document");
    assert_eq!(reported, third);
    let names = fs::read_to_string(sandbox.home().join("names")).expect("the hook ran");
    assert_eq!(names.trim(), format!("regression {}", third["run"].as_str().expect("a run")));
    fs::remove_file(sandbox.home().join("alert")).expect("own file");
    let (output, fourth) = once(&sandbox, &plan(&sandbox, &hook));
    assert!(matches!(output.status, Some(1 | 2)), "{output:?}");
    assert_eq!(fourth["alert"], Value::Null, "it is reported once: {output:?}");
    assert!(!sandbox.home().join("alert").exists());

    let used = fourth["bytes_today"].as_u64().expect("they were counted");
    let more = format!("baseline = \"main\"\n[budget]\nbytes_per_day = \"{}\"\n", used + bytes / 4);
    let tight = plan(&sandbox, &more);
    let (output, fifth) = once(&sandbox, &tight);
    assert_eq!((output.status, &fifth["verdict"]), (Some(0), &"skipped".into()), "{output:?}");
    serves_metrics(&sandbox, &tight, &fourth, used);
}

fn three_times_as_fast(sandbox: &Sandbox) {
    let mut record = sandbox.record();
    let started = record["header"]["started"].as_i64().expect("a time");
    record["header"]["started"] = (started + 1).into();
    record["header"]["id"] = "two-hosts-before".into();
    for trial in record["trials"].as_array_mut().expect("a list") {
        for flow in trial["measurement"]["flows"].as_array_mut().expect("a list") {
            for end in ["sender", "receiver"] {
                for interval in flow[end]["intervals"].as_array_mut().expect("a list") {
                    interval["bytes"] = (3 * interval["bytes"].as_u64().expect("a count")).into();
                }
            }
        }
    }
    let file = sandbox.file("before.json", &record.to_string());
    let _ = sandbox.succeed(&["runs", "import", &file]);
    let _ = sandbox.succeed(&["baseline", "set", "main", "two-hosts-before"]);
}

fn serves_metrics(sandbox: &Sandbox, plan: &str, latest: &Value, used: u64) {
    let mut command = sandbox.command(&["watch", plan, "--metrics", "127.0.0.1:0"]);
    let mut watch = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("plumb was built");
    let mut printed = BufReader::new(watch.stderr.take().expect("a pipe"));
    let mut line = String::new();
    printed.read_line(&mut line).expect("it is text");
    let at = line.trim().strip_prefix("metrics at http://").and_then(|rest| rest.strip_suffix("/metrics"));
    let at = at.unwrap_or_else(|| panic!("{line}"));
    let text = std::cell::RefCell::new(String::new());
    let is_there = || {
        let answer = get(at);
        let there = ["plumb_watch_regression", "plumb_watch_bytes_used"].iter().all(|it| answer.contains(it));
        text.replace(answer);
        there
    };
    assert!(wait_until(PATIENCE, is_there), "{text:?}");
    let text = text.into_inner();
    let value = |name: &str| {
        let found =
            text.lines().find_map(|line| line.strip_prefix(name)?.rsplit(' ').next()?.parse::<f64>().ok());
        found.unwrap_or_else(|| panic!("no {name} in\n{text}"))
    };
    let estimate = latest["results"][0]["value"]["estimate"].as_f64().expect("a rate");
    assert!((value("plumb_watch_result_bits_per_second{") / estimate - 1.0).abs() < 1e-9, "{text}");
    assert_eq!(value("plumb_watch_regression{scenario=\"two-hosts\"}"), 1.0);
    assert_eq!(value("plumb_watch_bytes_used"), used as f64);
    signal(watch.id(), "TERM");
    assert_eq!(watch.wait().expect("a child").code(), Some(0), "no run is active");
}

fn get(at: &str) -> String {
    let mut stream = TcpStream::connect(at).expect("it listens");
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    answer
}

pub(crate) fn watch_that_ends_during_a_run_leaves_nothing_behind() {
    let sandbox = sandbox();
    let before = Leftovers::of(&sandbox);
    let _ = sandbox.file("wire.toml", &wire(50, "400ms"));
    let file = plan(&sandbox, "");
    for (name, status) in [("TERM", Some(130)), ("INT", Some(130)), ("KILL", None)] {
        let mut watch = sandbox.start(&["watch", &file]);
        assert!(wait_until(PATIENCE, || kept(&sandbox) >= 1), "no trial was stored");
        signal(watch.id(), name);
        assert_eq!(watch.wait().expect("it was started").code(), status, "{name}");
        before.are_gone_within(PATIENCE);
        assert!(kept(&sandbox) >= 1, "{name}");
        let removed = || sandbox.plumb(&["runs", "remove", "latest"]).status == Some(0);
        assert!(wait_until(PATIENCE, removed), "{name}");
    }
}
