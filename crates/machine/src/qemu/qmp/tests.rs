//! A monitor of the test's own, which answers in time, too late, or never.

use std::{
    io::{BufRead, BufReader},
    thread,
};

use super::*;

const GREETING: &str = r#"{"QMP": {"version": {}, "capabilities": []}}"#;

/// A monitor with this answer to every command but the first, in which ID is the command's.
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
fn events_and_late_answers_before_an_answer_are_told_apart_from_it() {
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
    assert_eq!(qmp.vcpu_threads().expect("it answers"), [7, 9]);
    assert_eq!(words.text(), "QEMU: SHUTDOWN (guest-panic)");
}

#[test]
fn a_refusal_has_its_words_and_silence_an_end() {
    let (mut qmp, _) = monitor(r#"{"error": {"class": "GenericError", "desc": "not now"}, "id": ID}"#);
    let error = qmp.vcpu_threads().expect_err("refused");
    assert_eq!(error.to_string(), "QEMU refuses `query-cpus-fast`: not now");
    let (mut qmp, _) = monitor(r#"{"return": {}, "id": 0}"#);
    let error = qmp.status().expect_err("the answer to something else");
    assert!(error.to_string().contains("it is stopped, or gets no CPU") && !error.is_end(), "{error}");
}

#[test]
fn who_has_ended_does_not_answer() {
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    drop(theirs);
    let error = Qmp::greet(ours, &LastLines::default()).expect_err("nobody is there");
    assert!(error.is_end(), "{error}");
}
