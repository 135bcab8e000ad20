//! Tests the QMP client with replies that are on time, late or missing.

use std::{
    io::{BufRead, BufReader},
    thread,
};

use super::*;

const GREETING: &str = r#"{"QMP": {"version": {}, "capabilities": []}}"#;

fn monitor(answer: &'static str) -> (Qmp, LastLines) {
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    thread::spawn(move || {
        let mut to = theirs.try_clone().expect("a copy");
        writeln!(to, "{GREETING}").expect("it is read");
        for line in BufReader::new(theirs).lines().map_while(Result::ok) {
            let order: Value = serde_json::from_str(&line).expect("JSON");
            let answer = if order["execute"] == FIRST { r#"{"return": {}, "id": ID}"# } else { answer };
            let _ = writeln!(to, "{}", answer.replace("ID", &order["id"].to_string()));
        }
    });
    let words = LastLines::default();
    (Qmp::greet(ours, &words).expect("it greets"), words)
}

#[test]
fn skips_events_and_late_replies() {
    let answer = concat!(
        r#"{"event": "RTC_CHANGE", "data": {}}"#,
        "\n",
        r#"{"timestamp": {}, "event": "SHUTDOWN", "data": {"guest": true, "reason": "guest-panic"}}"#,
        "\n",
        r#"{"return": [], "id": 0}"#,
        "\n",
        r#"{"return": [{"cpu-index": 0, "thread-id": 7}, {"cpu-index": 1, "thread-id": 9}], "id": ID}"#
    );
    let (mut qmp, words) = monitor(answer);
    assert_eq!(qmp.vcpu_threads().expect("a reply"), [7, 9]);
    assert_eq!(words.text(), "QEMU: SHUTDOWN (guest-panic)");
}

#[test]
fn reports_refusal_and_times_out_without_reply() {
    let (mut qmp, _) = monitor(r#"{"error": {"class": "GenericError", "desc": "not now"}, "id": ID}"#);
    let error = qmp.vcpu_threads().expect_err("refused");
    assert_eq!(error.to_string(), "QEMU refused `query-cpus-fast`: not now");
    let (mut qmp, _) = monitor(r#"{"return": {}, "id": 0}"#);
    let error = qmp.status().expect_err("a reply to another command");
    assert!(error.to_string().contains("QEMU is stopped or gets no CPU") && !error.is_end(), "{error}");
}

#[test]
fn reports_closed_connection() {
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    drop(theirs);
    let error = Qmp::greet(ours, &LastLines::default()).expect_err("closed");
    assert!(error.is_end(), "{error}");
}
