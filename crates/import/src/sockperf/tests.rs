//! Tests with real and damaged output of sockperf 3.7.

use units::{Bytes, Nanos};
use workload::{Measurement, Quantity};

use super::*;
use crate::imported_test::ImportedTest;

fn read(text: &str) -> Out {
    let text = text.replace("\u{1b}[2;35m", "").replace("\u{1b}[0m", "");
    let mut out = Out::default();
    let mut sockperf = Sockperf::default();
    let last = text.lines().count();
    for (line, number) in text.lines().zip(1..) {
        let whole = number < last || text.ends_with('\n');
        let _ = sockperf.line(&Line { number: number as u64, text: line, whole }, &mut out);
    }
    sockperf.end(&mut out);
    out
}

fn value(found: &ImportedTest, name: &str) -> Option<(Quantity, f64)> {
    let Measurement::Reported(data) = &found.measurement else { panic!("not a report") };
    data.values.iter().find(|value| value.name == name).map(|value| (value.quantity, value.value))
}

#[test]
fn doubles_half_round_trips_with_one_note() {
    let text = include_str!("../../tests/data/sockperf-ping-pong.txt");
    let printed: f64 = text
        .lines()
        .find_map(|line| line.split_once("percentile 50.000 =")?.1.trim().parse().ok())
        .expect("median");
    let out = read(&text.repeat(2));
    assert_eq!(out.founds.len(), 2);
    for found in &out.founds {
        let (quantity, p50) = value(found, "p50").expect("median");
        assert_eq!(quantity, Quantity::Time);
        assert!((p50 - 2000.0 * printed).abs() < 1e-6, "{p50}");
        assert_eq!(found.settings.transport, Some(workload::Transport::Udp));
        assert_eq!(found.settings.tool, "sockperf 3.7");
    }
    let Measurement::Reported(data) = &out.founds[0].measurement else { panic!("reported") };
    assert_eq!(data.values[0].name, "p50");
    assert_eq!(out.notes.len(), 1);
    assert!(out.notes[0].contains("half round trips at lines 1 to 25"), "{}", out.notes[0]);
}

#[test]
fn keeps_whole_round_trips() {
    let out = read(include_str!("../../tests/data/sockperf-tcp-full-rtt.txt"));
    let max = value(&out.founds[0], "max").expect("maximum").1;
    let printed = include_str!("../../tests/data/sockperf-tcp-full-rtt.txt");
    assert!(printed.contains(&format!("<MAX> observation = {:.3}", max / 1e3)), "{max}");
    assert_eq!(out.founds[0].settings.transport, Some(workload::Transport::Tcp));
    assert_eq!(out.notes, Vec::<String>::new());
}

#[test]
fn full_log_becomes_histogram_of_whole_round_trips() {
    for text in [
        include_str!("../../tests/data/sockperf-under-load-log.csv"),
        include_str!("../../tests/data/sockperf-tcp-full-rtt-log.csv"),
    ] {
        let out = read(text);
        let [found] = out.founds.as_slice() else { panic!("one test: {:?}", out.founds.len()) };
        let Measurement::PingPong(data) = &found.measurement else { panic!("round trips") };
        let rows = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).count();
        assert_eq!(data.round_trips.count(), rows as u64);
        let halved = text.contains("avg-latency");
        let min = data.round_trips.min().expect("not empty").0 as f64 / 1e3 / if halved { 2.0 } else { 1.0 };
        let printed: f64 = text
            .lines()
            .find_map(|line| line.split_once("<MIN> observation =")?.1.trim().parse().ok())
            .expect("minimum");
        assert!((min / printed - 1.0).abs() < 0.002, "{min} is not {printed}");
        assert_eq!(data.intervals.iter().map(|one| one.round_trips.count()).sum::<u64>(), rows as u64);
        assert_eq!(data.lost, Some(0));
        assert_eq!(found.settings.message, Some(Bytes(14)));
        assert_eq!(out.notes, Vec::<String>::new());
    }
}

#[test]
fn labels_sender_counts_as_sent() {
    let out = read(include_str!("../../tests/data/sockperf-throughput.txt"));
    let (quantity, sent) = value(&out.founds[0], "sent").expect("a rate");
    assert_eq!(quantity, Quantity::BitRate);
    let (_, messages) = value(&out.founds[0], "messages").expect("message rate");
    assert!((sent / (messages * 8000.0) - 1.0).abs() < 1e-4, "{sent} for {messages} messages of 1000 bytes");
}

#[test]
fn notes_test_without_replies() {
    let out = read(include_str!("../../tests/data/sockperf-no-answer.txt"));
    assert_eq!(out.founds, []);
    assert_eq!(out.notes, ["sockperf's test at line 1 received no reply."]);
}

#[test]
fn skips_impossible_messages_with_line_numbers() {
    let out = read(
        "packet, txTime(sec), rxTime(sec), latency(usec)\n\
         0, 2.000000000, 2.000102000, 51.000\n\
         1, 2.000200000, 2.000100000, -50.000\n\
         2, nan, inf, nan\n\
         3, 2.000300000, 2.000400000, 77.000\n\
         4, 99999999.000300000, 99999999.000400000, 50.000\n\
         5, 2.000500000, 2.000600000, 50.000\n\
         6, 2.000700000, 2.0007",
    );
    let Measurement::PingPong(data) = &out.founds[0].measurement else { panic!("round trips") };
    assert_eq!((data.round_trips.count(), data.elapsed, data.lost), (2, Nanos(600_000), None));
    assert_eq!(
        out.notes,
        [
            "sockperf's log at line 1: skipped invalid messages: lines 3, 4, 5 and 2 more.",
            "sockperf's log at line 1 is truncated after line 7.",
            "sockperf's log at line 1 does not give the number of lost messages; treated as unknown.",
        ]
    );
}

#[test]
fn keeps_values_of_truncated_summary() {
    let text = include_str!("../../tests/data/sockperf-ping-pong.txt");
    let cut = text.find("percentile 90.000 =   ").expect("percentile line") + 24;
    let out = read(&text[..cut]);
    assert_eq!(value(&out.founds[0], "p90"), None, "truncated number");
    assert!(value(&out.founds[0], "p99").is_some());
    assert!(out.notes.iter().any(|note| note.contains("skipped an invalid number")), "{:?}", out.notes);
}
