//! What a log tells is kept, a zero too; what it does not tell stays unknown.

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
fn a_path_that_loses_everything_has_a_rate_of_zero() {
    let text = run(ALL_LOST);
    assert_eq!(rate(&text), Some(0.0));
    let Measurement::Stream(stream) = &text.trials[0].measurement else { panic!("a stream") };
    let told = stream.flows[0].receiver.intervals[0].datagrams.expect("they are told");
    assert_eq!((told.count, told.lost), (0, 91));

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
fn a_zero_that_a_client_prints_because_nobody_told_it_is_none() {
    let stopped = run(&capture("interrupted.client.txt"));
    let Measurement::Stream(stream) = &stopped.trials[0].measurement else { panic!("a stream") };
    assert!(stream.flows[0].receiver.intervals.is_empty());
}

#[test]
fn documents_within_documents_are_read_one_level_deep() {
    let deep = 100_000;
    let inner = r#"{"start":{},"end":{}}"#;
    let text =
        r#"{"start":{},"end":{},"server_output_json":"#.repeat(deep) + inner + &"}".repeat(deep) + "\n";
    let error = import_texts(&[("a.json", text.as_bytes())]).expect_err("nothing is in it");
    assert!(error.contains("nothing to import"), "{error}");
}

#[test]
fn without_the_receivers_word_the_rate_is_what_was_sent_and_the_cell_says_so() {
    let text = capture("tcp.client.txt");
    let begun: Vec<&str> = text.lines().take(6).collect();
    let cut_off = run(&(begun.join("\n") + "\n"));
    assert!(rate(&cut_off).is_some_and(|rate| rate > 1e9), "{:?}", rate(&cut_off));
    let cell = &cut_off.header.cells[0];
    assert_eq!(cell.levels["counted"], "sent", "{}", cell.id);
    assert!(cut_off.notes().iter().any(|note| note.contains("what was sent")), "{:?}", cut_off.notes());
    assert!(!run(&text).header.cells[0].levels.contains_key("counted"));
}

#[test]
fn one_ends_log_of_both_directions_is_said_to_be_half_of_it() {
    let half = import(&["iperf3/bidir.server.txt"]);
    assert_eq!(half.header.cells[0].levels["counted"], "received, forward alone");
    let note = half.notes().iter().find(|note| note.contains("client's log is missing"));
    assert!(note.is_some_and(|note| note.contains("both directions")), "{:?}", half.notes());
    let whole = import(&["iperf3/bidir.server.txt", "iperf3/bidir.client.txt"]);
    assert!(!whole.header.cells[0].levels.contains_key("counted"), "{:?}", whole.header.cells);
}

const TABLE: &str = "| Queue | Rate (Gbit/s) |\n| --- | --- |\n| 1 | 5.1 |\n| 2 | 7.3 |\n";

#[test]
fn tables_are_left_out_only_of_files_that_hold_logs_too() {
    let log = capture("tcp.client.txt");
    let both = format!("{TABLE}\n{log}");
    for files in [[("t.txt", TABLE), ("l.txt", &both)], [("l.txt", &both), ("t.txt", TABLE)]] {
        let files = files.map(|(name, text)| (name, text.as_bytes()));
        let run = import_texts(&files).expect("a table and a log");
        assert_eq!(run.trials.len(), 3, "two rows and the log");
        let told: Vec<&String> = run.notes().iter().filter(|note| note.contains("rows of tables")).collect();
        assert!(matches!(told[..], [note] if note.starts_with("l.txt: 2 rows of tables")), "{told:?}");
    }
}

#[test]
fn the_same_file_again_is_noticed() {
    let log = capture("tcp.client.txt");
    let run = import_texts(&[("a.log", log.as_bytes()), ("b.log", log.as_bytes())]).expect("logs");
    assert!(
        run.notes().iter().any(|note| note.starts_with("b.log: this is a.log once more")),
        "{:?}",
        run.notes()
    );
}

fn rows(count: usize) -> String {
    let rows = (0..count).map(|at| format!("| case{at} | {at}.5 |\n"));
    rows.fold("| Case | Rate (Gbit/s) |\n| --- | --- |\n".to_owned(), |text, row| text + &row)
}

#[test]
fn more_cells_than_anybody_compares_are_refused() {
    assert_eq!(run(&rows(20_000)).header.cells.len(), 20_000);
    let error = import_texts(&[("a.md", rows(20_001).as_bytes())]).expect_err("one too many");
    assert!(error.contains("more than 20000 different settings"), "{error}");
}

#[test]
fn messages_at_a_rate_are_no_ping_pong() {
    for (file, workload) in [
        ("sockperf-ping-pong.txt", "udp-ping-pong"),
        ("sockperf-tcp-full-rtt.txt", "tcp-under-load"),
        ("sockperf-under-load-log.csv", "under-load"),
    ] {
        assert_eq!(import(&[file]).header.cells[0].workload, workload, "{file}");
    }
}

#[test]
fn a_log_that_names_the_server_alone_is_of_a_client_to_it() {
    assert_eq!(import(&["sockperf-ping-pong.txt"]).header.cells[0].path, "client-to-127.0.0.1");
    assert_eq!(import(&["sockperf-under-load-log.csv"]).header.cells[0].path, "unknown");
}

#[test]
fn times_that_are_half_of_what_the_rate_beside_them_says_are_noticed() {
    let table = |micros: &str| {
        format!("| Case | Latency (us) | Rate (/s) |\n| --- | --- | --- |\n| a | {micros} | 15200 |\n")
    };
    let told =
        |micros: &str| run(&table(micros)).notes().iter().any(|note| note.contains("half round trips"));
    assert!(told("32.867"));
    assert!(!told("65.734"));
}
