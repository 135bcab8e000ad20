//! Tests that work and memory are proportional to the length of a log, not to the numbers in it, and that tests are not
//! compared pairwise.

use std::fmt::Write;

use samples::Trial;
use workload::Measurement;

use crate::imported::{Run, import_texts};

const CLIENT: &str = "Connecting to host 198.18.0.2, port 5201";
const SERVER: &str = "Accepted connection from 198.18.0.1, port 39999";

fn run(name: &str, text: &str) -> Run {
    import_texts(&[(name, text.as_bytes())]).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn intervals(trial: &Trial) -> usize {
    match &trial.measurement {
        Measurement::PingPong(ping) => ping.intervals.len(),
        Measurement::Stream(stream) => {
            stream.flows.iter().map(|flow| flow.sender.intervals.len() + flow.receiver.intervals.len()).sum()
        }
        _ => 0,
    }
}

fn log(first: &str, megabytes: usize) -> String {
    let row = format!("{megabytes}.00 MBytes  {:.2} Mbits/sec", megabytes as f64 * 8.388_608);
    format!(
        "{first}\n[ ID] Interval           Transfer     Bitrate\n[  5]   0.00-1.00   sec  {row}\n\
         [ ID] Interval           Transfer     Bitrate\n[  5]   0.00-1.00   sec  {row}    receiver\n"
    )
}

#[test]
fn drops_unjoinable_intervals_with_a_note() {
    let mut text = String::from(
        r#"{"start": {"connected": [], "connecting_to": {"host": "a", "port": 5201}}, "intervals": ["#,
    );
    for at in 0..20_000 {
        let comma = if at > 0 { "," } else { "" };
        let (start, end) = (at * 10, at * 10 + 1);
        write!(
            text,
            r#"{comma}{{"streams": [{{"socket": 5, "start": {start}, "end": {end}, "seconds": 1, "bytes": 1000}}]}}"#
        )
        .expect("memory");
    }
    text.push_str("], \"end\": {}}\n");
    let run = run("gaps.json", &text);
    let note = run.notes().iter().find(|note| note.contains("skipped")).expect("has a note");
    assert!(note.contains("16385 contradictory intervals"), "{note}");
    assert_eq!(intervals(&run.trials[0]), 20_000 - 16_385);
}

#[test]
fn drops_and_counts_unjoinable_rows() {
    let mut text = format!("{CLIENT}\n[ ID] Interval           Transfer     Bitrate\n");
    for at in (0..20_000).map(|at| at * 10) {
        let end = at + 1;
        writeln!(text, "[  5] {at}.00-{end}.00 sec  100 MBytes  839 Mbits/sec").expect("memory");
    }
    let run = run("gaps.txt", &text);
    let note = run.notes().iter().find(|note| note.contains("skipped")).expect("has a note");
    assert!(note.contains("16385 damaged or contradictory lines"), "{note}");
    assert_eq!(intervals(&run.trials[0]), 20_000 - 16_385);
}

#[test]
fn gap_of_an_hour_does_not_create_thousands_of_intervals() {
    let text = "packet, txTime(sec), rxTime(sec), latency(usec)\n0, 2.000000000, 2.000100000, 50.000\n\
                1, 3000.000000000, 3000.000100000, 50.000\n------------------------------\n";
    let run = run("log.csv", text);
    let Measurement::PingPong(ping) = &run.trials[0].measurement else { panic!("round trips") };
    assert_eq!(ping.intervals.iter().map(|interval| interval.round_trips.count()).sum::<u64>(), 2);
    assert!(ping.intervals.len() <= 64, "{}", ping.intervals.len());
}

#[test]
fn pairs_logs_under_long_headings_among_many_others() {
    let long = "<details><summary>".to_owned() + &"a word, ".repeat(20) + "</summary>\n";
    let mut text = long.repeat(8);
    (0..300).for_each(|_| text.push_str(&log(CLIENT, 100)));
    text.push_str("<details><summary>beside</summary>\n");
    (0..300).for_each(|_| text.push_str(&log(SERVER, 100)));
    assert_eq!(run("no-pairs.md", &text).trials.len(), 600);
}

#[test]
fn notes_name_the_file_with_missing_data() {
    let sent = log(CLIENT, 100).replace("receiver", "sender");
    let files =
        [("first.txt", sent.as_bytes()), ("second.txt", b"Test\n| A | B |\n|---|---|\n| 1 | 5 ms |\n")];
    let run = import_texts(&files).expect("both parse");
    let note =
        run.notes().iter().find(|note| note.contains("received bytes are unknown")).expect("has a note");
    assert!(note.starts_with("first.txt: lines 1 to 5"), "{note}");
}

#[test]
fn coarser_series_of_thousands_of_tests_keep_their_rates() {
    let mut text = String::new();
    for port in 0..1000 {
        writeln!(text, "{CLIENT}\n[  5] local 198.18.0.1 port {port} connected to 198.18.0.2 port 5201")
            .expect("memory");
        for second in 0..60 {
            let end = second + 1;
            writeln!(
                text,
                "[  5]   {second}.00-{end}.00   sec   100 MBytes   839 Mbits/sec    1   1.00 MBytes"
            )
            .expect("memory");
        }
        writeln!(text, "[  5]   0.00-60.00   sec   5.86 GBytes   839 Mbits/sec    60   sender")
            .expect("memory");
    }
    let run = run("many.txt", &text);
    assert_eq!(run.trials.len(), 1000);
    let (first, last) = (&run.trials[0], &run.trials[999]);
    assert_eq!((intervals(first), intervals(last)), (60, 8));
    let rate = |trial: &Trial| trial.measurement.value(workload::Metric::Throughput).expect("a rate");
    assert!((rate(first) / rate(last) - 1.0).abs() < 1e-9);
    let Measurement::Stream(stream) = &last.measurement else { panic!("a stream") };
    assert_eq!(stream.flows[0].sender.retransmits(), 60);
    let note = run.notes().iter().find(|note| note.contains("limit of 32768 intervals")).expect("has a note");
    assert!(note.contains("454 tests from here on"), "{note}");
}
