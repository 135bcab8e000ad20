//! Tests that zeros in logs are imported, and that missing values remain unknown.

use workload::{Measurement, Metric};

use crate::imported::{Run, import, import_texts};

fn run(text: &str) -> Run {
    import_texts(&[("a.log", text.as_bytes())]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn rate(run: &Run) -> Option<f64> {
    run.trials[0].measurement.value(Metric::Throughput)
}

fn capture(name: &str) -> String {
    std::fs::read_to_string(format!("tests/data/iperf3/{name}")).expect("a capture")
}

const ALL_LOST: &str = "Connecting to host 198.18.0.2, port 5201
[  5] local 198.18.0.1 port 58709 connected to 198.18.0.2 port 5201
[ ID] Interval           Transfer     Bitrate         Total Datagrams
[  5]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  91
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  0.000 ms  0/91 (0%)  sender
[  5]   0.00-1.04   sec  0.00 Bytes  0.00 bits/sec  0.000 ms  91/91 (100%)  receiver

iperf Done.
";

#[test]
fn path_that_loses_everything_has_a_rate_of_zero() {
    let text = run(ALL_LOST);
    assert_eq!(rate(&text), Some(0.0));
    let Measurement::Stream(stream) = &text.trials[0].measurement else { panic!("a stream") };
    let datagrams = stream.flows[0].receiver.intervals[0].datagrams.expect("has datagram counts");
    assert_eq!((datagrams.count, datagrams.lost), (0, 91));

    let json = run(r#"{"start": {"connected": [{"socket": 5, "local_host": "198.18.0.1", "local_port": 1,
        "remote_host": "198.18.0.2", "remote_port": 2}], "connecting_to": {"host": "198.18.0.2", "port": 2},
        "test_start": {"protocol": "UDP"}},
        "intervals": [], "end": {"streams": [{"udp": {"socket": 5, "start": 0, "end": 1.0, "seconds": 1.0,
        "bytes": 131072, "bits_per_second": 1048576.0, "jitter_ms": 0, "lost_packets": 91, "packets": 91,
        "lost_percent": 100, "out_of_order": 0, "sender": true}}]}}
"#);
    assert_eq!(rate(&json), Some(0.0));
}

#[test]
fn ignores_zero_of_client_without_server_results() {
    let stopped = run(&capture("interrupted.client.txt"));
    let Measurement::Stream(stream) = &stopped.trials[0].measurement else { panic!("a stream") };
    assert!(stream.flows[0].receiver.intervals.is_empty());
}

#[test]
fn reads_nested_documents_one_level_deep() {
    let deep = 100_000;
    let inner = r#"{"start":{},"end":{}}"#;
    let text =
        r#"{"start":{},"end":{},"server_output_json":"#.repeat(deep) + inner + &"}".repeat(deep) + "\n";
    let error = import_texts(&[("a.json", text.as_bytes())]).expect_err("nothing to import");
    assert!(error.contains("nothing to import"), "{error}");
}

#[test]
fn uses_and_labels_sender_rate_without_receiver_log() {
    let text = capture("tcp.client.txt");
    let begun: Vec<&str> = text.lines().take(6).collect();
    let cut_off = run(&(begun.join("\n") + "\n"));
    assert!(rate(&cut_off).is_some_and(|rate| rate > 1e9), "{:?}", rate(&cut_off));
    let cell = &cut_off.header.results[0];
    assert_eq!(cell.levels["counted"], "sent", "{}", cell.id);
    assert!(
        cut_off.notes().iter().any(|note| note.contains("the rate is the sender's")),
        "{:?}",
        cut_off.notes()
    );
    assert!(!run(&text).header.results[0].levels.contains_key("counted"));
}

#[test]
fn labels_one_end_of_a_bidirectional_test_as_half() {
    let half = import(&["iperf3/bidir.server.txt"]);
    assert_eq!(half.header.results[0].levels["counted"], "received, forward alone");
    let note = half.notes().iter().find(|note| note.contains("client's log is missing"));
    assert!(note.is_some_and(|note| note.contains("bidirectional test")), "{:?}", half.notes());
    let whole = import(&["iperf3/bidir.server.txt", "iperf3/bidir.client.txt"]);
    assert!(!whole.header.results[0].levels.contains_key("counted"), "{:?}", whole.header.results);
}

const TABLE: &str = "| Queue | Rate (Gbit/s) |\n| --- | --- |\n| 1 | 5.1 |\n| 2 | 7.3 |\n";

#[test]
fn skips_tables_only_in_files_with_logs() {
    let log = capture("tcp.client.txt");
    let both = format!("{TABLE}\n{log}");
    for files in [[("t.txt", TABLE), ("l.txt", &both)], [("l.txt", &both), ("t.txt", TABLE)]] {
        let files = files.map(|(name, text)| (name, text.as_bytes()));
        let run = import_texts(&files).expect("a table and a log");
        assert_eq!(run.trials.len(), 3, "two rows and the log");
        let notes: Vec<&String> = run.notes().iter().filter(|note| note.contains("table rows")).collect();
        assert!(matches!(notes[..], [note] if note.starts_with("l.txt: skipped 2 table rows")), "{notes:?}");
    }
}

#[test]
fn notes_identical_files() {
    let log = capture("tcp.client.txt");
    let run = import_texts(&[("a.log", log.as_bytes()), ("b.log", log.as_bytes())]).expect("logs");
    assert!(
        run.notes().iter().any(|note| note.starts_with("b.log: identical to a.log")),
        "{:?}",
        run.notes()
    );
}

fn rows(count: usize) -> String {
    let rows = (0..count).map(|at| format!("| case{at} | {at}.5 |\n"));
    rows.fold("| Case | Rate (Gbit/s) |\n| --- | --- |\n".to_owned(), |text, row| text + &row)
}

#[test]
fn rejects_too_many_cells() {
    assert_eq!(run(&rows(20_000)).header.results.len(), 20_000);
    let error = import_texts(&[("a.md", rows(20_001).as_bytes())]).expect_err("one too many");
    assert!(error.contains("more than 20000 different settings"), "{error}");
}

#[test]
fn messages_at_a_rate_are_not_ping_pong() {
    for (file, workload) in [
        ("sockperf-ping-pong.txt", "udp-ping-pong"),
        ("sockperf-tcp-full-rtt.txt", "tcp-under-load"),
        ("sockperf-under-load-log.csv", "under-load"),
    ] {
        assert_eq!(import(&[file]).header.results[0].workload, workload, "{file}");
    }
}

#[test]
fn log_that_names_only_the_server_is_a_clients() {
    assert_eq!(import(&["sockperf-ping-pong.txt"]).header.results[0].path, "client-to-127.0.0.1");
    assert_eq!(import(&["sockperf-under-load-log.csv"]).header.results[0].path, "unknown");
}

#[test]
fn notes_times_that_are_half_of_what_the_rate_implies() {
    let table = |micros: &str| {
        format!("| Case | Latency (us) | Rate (/s) |\n| --- | --- | --- |\n| a | {micros} | 15200 |\n")
    };
    let is_noted =
        |micros: &str| run(&table(micros)).notes().iter().any(|note| note.contains("half round trips"));
    assert!(is_noted("32.867"));
    assert!(!is_noted("65.734"));
}
