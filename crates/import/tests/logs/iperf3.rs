//! Imports real iperf3 3.12 output as a user would, with both ends of each capture.

use crate::imported::{Run, import};
use samples::{Trial, ValidityWarning, WorkloadSource};
use workload::{Direction, EndSeries, Flow, Measurement, Transport};

struct Case {
    name: &'static str,
    streams: u32,
    direction: Direction,
    transport: Transport,
    /// Number of intervals per connection at the client, after the `-O` period.
    intervals: std::ops::RangeInclusive<usize>,
    notes: &'static [&'static str],
}

impl Case {
    const fn new(name: &'static str) -> Self {
        Self {
            name,
            streams: 1,
            direction: Direction::Forward,
            transport: Transport::Tcp,
            intervals: 2..=3,
            notes: &[],
        }
    }
}

use Direction::{Both, Reverse};
use Transport::Udp;

const CASES: &[Case] = &[
    Case { intervals: 4..=5, ..Case::new("tcp.txt") },
    Case { streams: 3, ..Case::new("parallel.txt") },
    Case { direction: Reverse, ..Case::new("reverse.txt") },
    Case { direction: Both, ..Case::new("bidir.txt") },
    Case { direction: Both, streams: 2, ..Case::new("bidir-parallel.txt") },
    Case { transport: Udp, ..Case::new("udp.txt") },
    Case { transport: Udp, direction: Reverse, ..Case::new("udp-reverse.txt") },
    Case { transport: Udp, streams: 2, ..Case::new("udp-parallel.txt") },
    Case { transport: Udp, ..Case::new("udp-lossy.txt") },
    Case::new("verbose.txt"),
    Case { transport: Udp, ..Case::new("verbose-udp.txt") },
    Case::new("omit.txt"),
    Case { intervals: 3..=4, ..Case::new("omit-long.txt") },
    Case { transport: Udp, ..Case::new("omit-long-udp.txt") },
    Case { streams: 2, ..Case::new("omit-parallel.txt") },
    Case::new("timestamps.txt"),
    Case { intervals: 1..=1, ..Case::new("no-intervals.txt") },
    Case { intervals: 1..=1, ..Case::new("bytes.txt") },
    Case::new("format-k.txt"),
    Case::new("format-m.txt"),
    Case::new("format-g.txt"),
    Case::new("format-t.txt"),
    Case::new("format-K.txt"),
    Case::new("format-M.txt"),
    Case::new("format-G.txt"),
    Case::new("format-T.txt"),
    Case {
        notes: &[
            "iperf3 reported \"interrupt",
            "1 damaged or contradictory lines",
            "the intervals add up to",
        ],
        ..Case::new("interrupted.txt")
    },
    Case { intervals: 4..=5, ..Case::new("tcp.json") },
    Case { direction: Both, ..Case::new("bidir.json") },
    Case { direction: Reverse, streams: 2, ..Case::new("parallel-reverse.json") },
    Case { transport: Udp, ..Case::new("udp.json") },
    Case { transport: Udp, ..Case::new("udp-lossy.json") },
    Case::new("omit.json"),
    Case { intervals: 3..=4, ..Case::new("omit-long.json") },
    Case { intervals: 1..=1, ..Case::new("no-intervals.json") },
];

fn flows(trial: &Trial) -> &[Flow] {
    match &trial.measurement {
        Measurement::Stream(stream) => &stream.flows,
        other => panic!("iperf3 sends streams: {other:?}"),
    }
}

fn pair(name: &str) -> Run {
    let (stem, ending) = name.rsplit_once('.').expect("file extension");
    import(&[&format!("iperf3/{stem}.server.{ending}"), &format!("iperf3/{stem}.client.{ending}")])
}

fn check(case: &Case) {
    let Case { name, streams, direction, transport, intervals, notes } = case;
    let run = pair(name);
    assert_eq!(run.trials.len(), 1, "{name}: both ends make one trial: {:?}", run.notes());
    let WorkloadSource::Imported(settings) = &run.header.results[0].sent else {
        panic!("{name}: nothing was ordered")
    };
    assert_eq!((settings.streams, settings.direction), (Some(*streams), Some(*direction)), "{name}");
    assert_eq!(settings.transport, Some(*transport), "{name}");
    let flows = flows(&run.trials[0]);
    assert_eq!(flows.len(), *streams as usize * direction.flows().len(), "{name}");
    for flow in flows {
        let (client, server) = match flow.direction {
            Reverse => (&flow.receiver, &flow.sender),
            _ => (&flow.sender, &flow.receiver),
        };
        let measured = client.measured().count();
        assert!(intervals.contains(&measured), "{name}: {measured} intervals at the client");
        for end in [client, server] {
            in_order(name, end);
        }
        if *transport == Transport::Udp {
            assert!(flow.receiver.datagrams().is_some() && flow.sender.datagrams().is_some(), "{name}");
        } else if !name.starts_with("interrupted") {
            // Only data in flight when the client stopped may be missing.
            let (sent, received) = (flow.sender.bytes().0 as f64, flow.receiver.bytes().0 as f64);
            let buffered = 16e6;
            assert!(
                (sent - received).abs() < sent * 0.01 + buffered,
                "{name}: {sent} sent, {received} received"
            );
        }
    }
    let logged = run.notes();
    assert_eq!(logged.len(), notes.len(), "{name}: {logged:?}");
    for note in *notes {
        assert!(logged.iter().any(|logged| logged.contains(note)), "{name}: {logged:?}");
    }
}

fn in_order(name: &str, end: &EndSeries) {
    assert!(!end.intervals.is_empty(), "{name}: both ends' series are known");
    for pair in end.intervals.windows(2) {
        let apart = pair[1].start.seconds() - pair[0].end.seconds();
        assert!(apart.abs() < 0.011, "{name}: {pair:?}");
    }
    for interval in end.measured() {
        assert!(interval.end > interval.start, "{name}: {interval:?}");
        assert!(interval.rate().0 < 100e9, "{name}: an absurd rate {}", interval.rate());
    }
}

#[test]
fn every_capture_is_one_trial_of_both_ends() {
    CASES.iter().for_each(check);
}

#[test]
fn text_and_json_have_the_same_cell() {
    for (text, json) in [("tcp.txt", "tcp.json"), ("bidir.txt", "bidir.json"), ("omit.txt", "omit.json")] {
        let id = |run: &Run| run.header.results[0].id.clone();
        assert_eq!(id(&pair(text)), id(&pair(json)), "{text}");
    }
}

#[test]
fn omitted_period_is_warmup() {
    for name in ["omit-long.txt", "omit-long.json"] {
        let run = pair(name);
        for end in [&flows(&run.trials[0])[0].sender, &flows(&run.trials[0])[0].receiver] {
            let warm = end.intervals.iter().filter(|interval| interval.warmup).count();
            assert_eq!(warm, 2, "{name}");
            assert!((end.elapsed().seconds() - 3.0).abs() < 0.1, "{name}: {}", end.elapsed());
        }
    }
}

#[test]
fn client_log_has_receiver_summary_but_server_log_has_no_sender() {
    for ending in ["txt", "json"] {
        let run = import(&[&format!("iperf3/tcp.client.{ending}")]);
        let flow = &flows(&run.trials[0])[0];
        assert!(flow.sender.intervals.len() >= 4);
        assert_eq!(flow.receiver.intervals.len(), 1);
        let run = import(&[&format!("iperf3/tcp.server.{ending}")]);
        let flow = &flows(&run.trials[0])[0];
        assert!(flow.sender.intervals.is_empty());
        assert!(flow.receiver.intervals.len() >= 4);
    }
}

#[test]
fn log_with_server_output_is_one_trial_of_both_ends() {
    for ending in ["txt", "json"] {
        let run = import(&[&format!("iperf3/with-server-output.client.{ending}")]);
        assert_eq!(run.trials.len(), 1, "{ending}: {:?}", run.notes());
        let flow = &flows(&run.trials[0])[0];
        assert!(flow.sender.intervals.len() >= 2 && flow.receiver.intervals.len() >= 2, "{ending}");
    }
}

#[test]
fn parses_version_time_cpu_and_congestion_of_verbose_output() {
    let run = pair("verbose.txt");
    let WorkloadSource::Imported(settings) = &run.header.results[0].sent else {
        panic!("no imported settings")
    };
    assert_eq!((settings.tool.as_str(), settings.congestion.as_deref()), ("iperf3 3.12", Some("cubic")));
    assert_eq!(settings.message, Some(units::Bytes(131_072)));
    let trial = &run.trials[0];
    assert_eq!(trial.started.0 % 1000, 0);
    assert!(trial.started.0 > 1_700_000_000_000);
    let ends: Vec<&str> = trial.cpu.threads.iter().map(|thread| thread.end.as_str()).collect();
    assert_eq!(ends, ["client", "server"]);
    let udp = pair("verbose-udp.txt");
    let WorkloadSource::Imported(settings) = &udp.header.results[0].sent else {
        panic!("no imported settings")
    };
    assert_eq!(settings.rate, Some(units::BitRate(1e7)));
}

#[test]
fn saturated_thread_is_a_warning() {
    let limited = |percent: &str| {
        let text = std::fs::read_to_string("tests/data/iperf3/verbose.client.txt").expect("a capture");
        let (before, after) = text.split_once("local/sender ").expect("sender's CPU time");
        let text = format!("{before}local/sender {percent}{}", &after[after.find('%').expect("a share")..]);
        let run = crate::imported::import_texts(&[("a.txt", text.as_bytes())]).expect("a log");
        run.trials[0].warnings.clone()
    };
    assert!(
        matches!(&limited("99.1")[..], [ValidityWarning::GeneratorLimited { end, .. }] if end == "client")
    );
    assert_eq!(limited("60.0"), []);
}

#[test]
fn lost_datagrams_are_those_missing_at_the_receiver() {
    for name in ["udp-lossy.txt", "udp-lossy.json"] {
        let run = pair(name);
        let flow = &flows(&run.trials[0])[0];
        let (sent, received) =
            (flow.sender.datagrams().expect("of UDP"), flow.receiver.datagrams().expect("of UDP"));
        assert!(received.lost > 0, "{name}");
        let all = received.count + received.lost.unsigned_abs();
        assert!(all <= sent.count && all > sent.count * 9 / 10, "{name}: {all} of {}", sent.count);
        assert!(received.jitter.0 > 0, "{name}");
    }
}

/// Returns the transfer and rate in each log row, as plumb prints them.
fn printed(name: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(format!("tests/data/iperf3/{name}.client.txt")).expect("a capture");
    let rows = text.lines().filter(|line| line.contains(" sec ") && is_wanted(line));
    let words = rows.map(|row| row.split(']').next_back().expect("a row").split_whitespace().collect());
    let printed = |words: Vec<&str>| match words[..] {
        [_, "sec", bytes, bytes_unit, bits, bits_unit, ..] => (
            format!("{bytes} {}", bytes_unit.replace("Bytes", "iB").replace(" iB", " B")),
            format!("{bits} {}", bits_unit.replace("bits/sec", "bit/s").replace("Kbit", "kbit")),
        ),
        _ => panic!("{name}: {words:?}"),
    };
    words.map(printed).collect()
}

fn shown(bytes: units::Bytes, rate: units::BitRate) -> (String, String) {
    (bytes.to_string(), rate.to_string())
}

#[test]
fn keeps_printed_transfers_and_rates() {
    let is_total = |row: &str| row.ends_with("sender") || row.ends_with("receiver");
    for name in ["tcp", "reverse", "udp", "udp-reverse", "verbose", "timestamps", "omit-long"] {
        let run = import(&[&format!("iperf3/{name}.client.txt")]);
        let flow = &flows(&run.trials[0])[0];
        let own = if name.ends_with("reverse") { &flow.receiver } else { &flow.sender };
        let rows: Vec<_> = own.intervals.iter().map(|it| shown(it.bytes, it.rate())).collect();
        assert_eq!(rows, printed(name, |row| !is_total(row)), "{name}");
        let ends = [&flow.sender, &flow.receiver];
        assert_eq!(
            ends.map(|end| shown(end.bytes(), end.rate())).to_vec(),
            printed(name, is_total),
            "{name}"
        );
    }
}

#[test]
fn keeps_printed_sums() {
    for name in ["parallel", "udp-parallel"] {
        let run = import(&[&format!("iperf3/{name}.client.txt")]);
        let flows = flows(&run.trials[0]);
        let ends: [fn(&Flow) -> &EndSeries; 2] = [|flow| &flow.sender, |flow| &flow.receiver];
        let total = |end: fn(&Flow) -> &EndSeries| {
            let all = || flows.iter().map(end);
            shown(all().map(EndSeries::bytes).sum(), EndSeries::rate_together(all()))
        };
        let is_sum = |row: &str| row.starts_with("[SUM]") && row.trim_end().ends_with("er");
        assert_eq!(ends.map(total).to_vec(), printed(name, is_sum), "{name}");
    }
}

#[test]
fn rejects_test_that_could_not_connect() {
    for ending in ["txt", "json"] {
        let text = std::fs::read(format!("tests/data/iperf3/refused.client.{ending}")).expect("a capture");
        let error = crate::imported::import_texts(&[("a.log", &text)]).expect_err("nothing measured");
        assert!(error.contains("unable to connect to server"), "{error}");
    }
}

#[test]
fn event_stream_equals_document() {
    let document = import(&["iperf3/tcp.client.json"]);
    let events = import(&["iperf3/events.json"]);
    assert_eq!(events.trials, document.trials);
    let text = std::fs::read_to_string("tests/data/iperf3/events.json").expect("events file");
    let cut: Vec<&str> = text.lines().take(3).collect();
    let run = crate::imported::import_texts(&[("a.json", cut.join("\n").as_bytes())]).expect("two intervals");
    assert_eq!(flows(&run.trials[0])[0].sender.intervals.len(), 2);
    assert!(run.notes()[0].contains("lines 1 to 3: this test has no summary"), "{:?}", run.notes());
}

#[test]
fn consecutive_documents_are_separate_tests() {
    let read = |name: &str| std::fs::read_to_string(format!("tests/data/iperf3/{name}")).expect("a capture");
    let (tcp, udp) = (read("tcp.client.json"), read("udp.client.json"));
    let text = format!("{tcp}{udp}\n## Once more\n```json\n{tcp}```\n");
    let run = crate::imported::import_texts(&[("all.md", text.as_bytes())]).expect("three documents");
    assert_eq!(run.trials.len(), 3, "{:?}", run.notes());
    let half = &tcp[..tcp.len() / 2];
    let run =
        crate::imported::import_texts(&[("cut.json", format!("{half}\n{udp}").as_bytes())]).expect("one");
    assert_eq!(run.trials.len(), 1);
    assert!(run.notes()[0].contains("truncated JSON document"), "{:?}", run.notes());
}
