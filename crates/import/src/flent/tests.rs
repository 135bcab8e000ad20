//! Tests with real and damaged data files of flent 2.1.1.

use workload::{Direction, Measurement, Transport};

use super::*;

const DOWNLOAD: &str = include_str!("../../tests/data/flent-tcp-download.flent");

fn read(text: &str) -> Out {
    let mut out = Out { title: vec!["Logs".to_owned()], ..Out::default() };
    assert_eq!(Flent.read(text, 1..=9, &mut out), Claim::Claimed);
    out
}

#[test]
fn imports_download_as_stream_and_round_trips() {
    let out = read(DOWNLOAD);
    let [stream, ping] = out.founds.as_slice() else { panic!("two tests: {}", out.founds.len()) };
    assert_eq!(stream.title, ["Logs", "small", "tcp_download"]);
    assert_eq!(stream.settings.tool, "flent 2.1.1");
    assert_eq!(
        (stream.settings.direction, stream.settings.transport),
        (Some(Direction::Reverse), Some(Transport::Tcp))
    );
    assert_eq!(stream.settings.congestion.as_deref(), Some("bbr"));
    let Measurement::Stream(data) = &stream.measurement else { panic!("a stream") };
    assert_eq!(data.flows[0].receiver.intervals.len(), 5);
    assert!(
        (data.flows[0].receiver.rate().0 / 8.3e9 - 1.0).abs() < 0.03,
        "{}",
        data.flows[0].receiver.rate()
    );
    assert_eq!(ping.title, ["Logs", "small", "tcp_download Ping (ms) ICMP"]);
    let Measurement::PingPong(data) = &ping.measurement else { panic!("round trips") };
    assert!(
        (4..=6).contains(&data.round_trips.count()),
        "one second at five per second: {}",
        data.round_trips.count()
    );
    assert!(data.under.is_some());
    assert_eq!(out.notes.len(), 1);
    assert!(out.notes[0].contains("49 round trips of `Ping (ms) ICMP`"), "{}", out.notes[0]);
}

#[test]
fn imports_upload_with_bytes_received_by_server() {
    let upload = DOWNLOAD.replace("TCP download", "TCP upload");
    let Measurement::Stream(data) = read(&upload).founds.remove(0).measurement else { panic!("a stream") };
    assert_eq!(data.flows[0].sender.intervals.len(), 5);
    assert_eq!(data.flows[0].receiver.bytes(), units::Bytes(1_034_469_376));
    let datagrams = upload.replace("TCP upload", "UDP upload").replace("BYTES_RECVD", "BYTES");
    let Measurement::Stream(data) = read(&datagrams).founds.remove(0).measurement else { panic!("a stream") };
    assert!(data.flows[0].receiver.intervals.is_empty(), "the server reports no bytes");
}

#[test]
fn mean_round_trips_are_not_samples() {
    let out = read(&DOWNLOAD.replace("PingRunner", "NetperfDemoRunner").replace("\"seq\"", "\"dur\""));
    assert!(out.founds.iter().all(|found| !matches!(found.measurement, Measurement::PingPong(_))));
    let Measurement::Reported(data) = &out.founds[1].measurement else { panic!("reported") };
    assert_eq!(data.values[0].name, "mean, Ping (ms) ICMP");
}

#[test]
fn non_numeric_samples_are_gaps() {
    let out = read(
        r#"{"x_values": [], "results": {}, "raw_values": {"TCP upload": [{"t": 1, "dur": 1, "val": 80}, {"t": 2, "dur": 1,
        "val": null}, {"t": 3, "dur": -1, "val": 80}, {"t": 4, "dur": 1, "val": -80}, {"t": 5, "val": 1e300}, 7],
        "TCP upload sum": [], "Ping (ms) ICMP": [{"t": 1.5, "val": "x"}], "qdisc": [{"t": 1, "val": 3}]}}"#,
    );
    let [stream] = out.founds.as_slice() else { panic!("one test") };
    let Measurement::Stream(data) = &stream.measurement else { panic!("a stream") };
    assert_eq!(data.flows[0].sender.bytes(), units::Bytes(10_000_000));
    assert_eq!(stream.title, ["Logs", "flent"]);
}

#[test]
fn declines_foreign_documents_and_notes_broken_ones() {
    let mut out = Out::default();
    assert_eq!(Flent.read("{\"intervals\": []}", 1..=1, &mut out), Claim::Declined);
    assert_eq!(
        Flent.read("{\"x_values\": [], \"results\": {}, \"raw_values\": 7}", 3..=3, &mut out),
        Claim::Claimed
    );
    assert_eq!((out.founds.len(), out.notes.len()), (0, 1));
    assert!(out.notes[0].starts_with("cannot parse flent data at line 3"), "{}", out.notes[0]);
}

fn with_pings(samples: usize, lasts: f64, pings: usize) -> String {
    let upload: Vec<_> =
        (0..samples).map(|at| serde_json::json!({ "t": at, "val": 1, "dur": lasts })).collect();
    let mut series = serde_json::Map::new();
    series.insert("TCP upload".to_owned(), upload.into());
    for number in 0..pings {
        series.insert(format!("Ping (ms) ICMP {number}"), serde_json::json!([{ "t": 0, "val": 1 }]));
    }
    serde_json::json!({ "x_values": [], "results": {}, "raw_values": series }).to_string()
}

#[test]
fn limits_round_trip_series_by_stream_intervals() {
    for (samples, pings, read_of_them) in [(10, 16, 16), (10, 300, MOST_SERIES), (20_000, 300, 13)] {
        let out = read(&with_pings(samples, 1.0, pings));
        assert_eq!(out.founds.len(), 1 + read_of_them, "{samples} {pings}");
        let left_out = format!("{} series of round trips", pings - read_of_them);
        assert_eq!(
            out.notes.iter().any(|note| note.contains(&left_out)),
            pings > read_of_them,
            "{:?}",
            out.notes
        );
    }
}

#[test]
fn rejects_series_whose_time_overflows() {
    let out = read(&with_pings(20_000, 999_999.0, 0));
    assert!(out.founds.is_empty());
    assert!(out.notes[0].contains("skipped unreadable series `TCP upload`"), "{:?}", out.notes);
}
