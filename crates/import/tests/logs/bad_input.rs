//! Imports truncated, mixed and damaged logs. The readable parts must be correct, and notes must describe the rest.

use crate::imported::{Run, import_texts};
use proptest::{prelude::*, sample::Index};
use workload::{EndSeries, Flow, Measurement};

#[path = "../../../../fuzz/src/import.rs"]
mod exercise;

const CAPTURES: &[&str] = &[
    "tcp.client.txt",
    "tcp.server.txt",
    "bidir-parallel.client.txt",
    "udp-lossy.client.txt",
    "udp-lossy.server.txt",
    "verbose.client.txt",
    "omit.client.txt",
    "with-server-output.client.txt",
    "tcp.client.json",
    "udp.server.json",
];

fn capture(name: &str) -> Vec<u8> {
    std::fs::read(format!("tests/data/iperf3/{name}")).expect("a capture")
}

fn flows(run: &Run) -> Vec<&Flow> {
    let streams = run.trials.iter().filter_map(|trial| match &trial.measurement {
        Measurement::Stream(stream) => Some(&stream.flows),
        _ => None,
    });
    streams.flatten().collect()
}

fn is_part(part: &EndSeries, whole: &[&EndSeries]) -> bool {
    part.intervals.is_empty()
        || whole.iter().any(|whole| {
            let mut left = whole.intervals.iter();
            part.intervals.iter().all(|interval| left.any(|other| same(interval, other)))
        })
}

/// Ignores what truncation changes: late datagrams (only in the summary), the warm-up flag (`(omitted)` ends a
/// line), and the adjustment of rounded bytes to the summary.
fn same(a: &workload::Interval, b: &workload::Interval) -> bool {
    let without = |interval: &workload::Interval| {
        let (bytes, end) = (units::Bytes(0), interval.start);
        let mut interval = workload::Interval { warmup: false, bytes, end, ..*interval };
        if let Some(datagrams) = &mut interval.datagrams {
            datagrams.reordered = 0;
        }
        interval
    };
    without(a) == without(b) && a.bytes.0.abs_diff(b.bytes.0) * 100 <= b.bytes.0
}

#[test]
fn truncated_log_yields_no_data_beyond_the_whole_log() {
    // If a log covers both ends, the server's series replaces the summary in the client's log.
    for name in CAPTURES.iter().filter(|name| !name.contains("server-output")) {
        let bytes = capture(name);
        let whole = import_texts(&[("a.log", &bytes)]).expect("complete log");
        let known = flows(&whole);
        let ends: Vec<&EndSeries> = known.iter().flat_map(|flow| [&flow.sender, &flow.receiver]).collect();
        for cut in 0..bytes.len() {
            let cut_off = bytes[..cut].to_vec();
            let and_goes_on = [&bytes[..cut], b"\nsomething else\n"].concat();
            for text in [cut_off, and_goes_on] {
                let Ok(run) = import_texts(&[("a.log", &text)]) else { continue };
                for flow in flows(&run) {
                    for end in [&flow.sender, &flow.receiver] {
                        let shown =
                            String::from_utf8_lossy(&text[text.len().saturating_sub(120)..]).into_owned();
                        assert!(is_part(end, &ends), "{name} cut at {cut}: {end:?}\n{shown}");
                    }
                }
            }
        }
    }
}

#[test]
fn imports_test_without_summary_and_notes_truncation() {
    let text = String::from_utf8(capture("tcp.client.txt")).expect("text");
    let lines: Vec<&str> = text.lines().take(6).collect();
    let run =
        import_texts(&[("a.log", (lines.join("\n") + "\n").as_bytes())]).expect("three complete intervals");
    assert_eq!(flows(&run)[0].sender.intervals.len(), 3);
    assert!(flows(&run)[0].receiver.intervals.is_empty(), "received bytes are unknown");
    assert_eq!(
        run.notes(),
        [
            "a.log: lines 1 to 6: this test has no summary: it was cut off; the intervals before that are used",
            "a.log: lines 1 to 6: received bytes are unknown, so the rate is the sender's; the receiver's log is missing"
        ]
    );
}

#[test]
fn notes_missing_and_changed_lines() {
    let text = String::from_utf8(capture("tcp.client.txt")).expect("text");
    let without: Vec<&str> = text.lines().filter(|line| !line.contains("0.50-1.0")).collect();
    let run = import_texts(&[("a.log", without.join("\n").as_bytes())]).expect("the rest is intact");
    assert!(run.notes()[0].contains("lines are missing or were changed"), "{:?}", run.notes());
    for (wrong, line) in [("nan", 5), ("-1.0", 5), ("inf", 5), ("1e99", 5)] {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let rate = lines[line - 1].split_whitespace().nth(6).expect("a rate").to_owned();
        lines[line - 1] = lines[line - 1].replacen(&rate, wrong, 1);
        let run = import_texts(&[("a.log", lines.join("\n").as_bytes())]).expect("the rest is intact");
        let noted = run.notes().iter().any(|note| note.contains("the first at line 5"));
        assert!(noted, "{wrong}: {:?}", run.notes());
    }
}

#[test]
fn does_not_merge_interleaved_logs() {
    let (a, b) = (capture("tcp.client.txt"), capture("reverse.client.txt"));
    let (a, b) = (String::from_utf8(a).expect("text"), String::from_utf8(b).expect("text"));
    let mixed: Vec<&str> = a.lines().zip(b.lines()).flat_map(|(a, b)| [a, b]).collect();
    match import_texts(&[("a.log", mixed.join("\n").as_bytes())]) {
        Ok(run) => assert!(!run.notes().is_empty(), "{:?}", run.trials),
        Err(error) => assert!(error.contains("nothing to import"), "{error}"),
    }
}

#[test]
fn ignores_binary_data_between_lines() {
    let bytes = capture("tcp.client.txt");
    let with = [&b"\xff\xfa garbage \xc3\x28\n"[..], &bytes].concat();
    let (plain, run) = (import_texts(&[("a.log", &bytes)]), import_texts(&[("a.log", &with)]));
    assert_eq!(run.expect("a log").trials, plain.expect("a log").trials);
}

#[test]
fn pairs_ends_in_separate_files_in_any_order() {
    let (client, server) = (capture("tcp.client.txt"), capture("tcp.server.txt"));
    let one = import_texts(&[("c.log", &client), ("s.log", &server)]).expect("logs");
    let two = import_texts(&[("s.log", &server), ("c.log", &client)]).expect("logs");
    assert_eq!((one.trials.len(), &one.trials), (1, &two.trials));
}

#[test]
fn equal_tests_are_trials_and_files_are_settings_unless_together() {
    let one = capture("tcp.client.txt");
    let twice = [&one[..], b"\n", &one].concat();
    let run = import_texts(&[("a.log", &twice)]).expect("a log");
    let places: Vec<(u32, u32)> = run.trials.iter().map(|trial| (trial.index, trial.block)).collect();
    assert_eq!((run.header.results.len(), places), (1, vec![(0, 0), (1, 1)]));
    let files: [(&str, &[u8]); 2] = [("before.log", &one), ("after.log", &one)];
    let run = import_texts(&files).expect("logs");
    let levels: Vec<_> = run.header.results.iter().map(|cell| cell.levels["file"].as_str()).collect();
    assert_eq!(levels, ["before", "after"]);
    let meta = import::Meta { together: true, ..crate::imported::meta() };
    let run = crate::imported::import_with(&files, &import::Options::default(), &meta).expect("logs");
    assert_eq!((run.header.results.len(), run.trials.len()), (1, 2));
}

#[test]
fn equal_tests_between_words_are_results_unless_together() {
    let row = |rate: &str| {
        format!(
            "[  5]   0.00-10.00  sec  {rate} GBytes  {:.2} Gbits/sec    receiver\n",
            rate.parse::<f64>().expect("a number") * 0.858_993
        )
    };
    let import = |text: &str, together| {
        let meta = import::Meta { together, ..crate::imported::meta() };
        let files: [(&str, &[u8]); 1] = [("a.log", text.as_bytes())];
        crate::imported::import_with(&files, &import::Options::default(), &meta).expect("logs")
    };
    let between = format!("Old kernel:\n{}New kernel:\n{}", row("11.0"), row("11.0"));
    let parts = |run: &crate::imported::Run| -> Vec<String> {
        run.header.results.iter().filter_map(|cell| cell.levels.get("part").cloned()).collect()
    };
    assert_eq!(parts(&import(&between, false)), ["Old kernel", "New kernel"]);
    assert_eq!(import(&between, true).header.results.len(), 1);
    let differing = import(&format!("{}{}", row("11.0"), row("5.0")), false);
    let record = differing.header.origin.imported().expect("imported");
    assert_eq!((differing.header.results.len(), record.unexplained.len()), (2, 1));
    assert!(
        record.notes.iter().any(|note| note.contains("9.45 Gbit/s and 4.29 Gbit/s")),
        "{:?}",
        record.notes
    );
    assert_eq!(import(&format!("{0}{0}", row("11.0")), false).header.results.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn shuffled_lines_give_consistent_results(
        name in prop::sample::select(CAPTURES),
        order in prop::collection::vec(any::<Index>(), 0..60),
    ) {
        let text = String::from_utf8(capture(name)).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        let shuffled: Vec<&str> = order.iter().map(|index| *index.get(&lines)).collect();
        exercise::import(shuffled.join("\n").as_bytes());
    }

    #[test]
    fn damaged_bytes_give_consistent_results(
        name in prop::sample::select(CAPTURES),
        damage in prop::collection::vec((any::<Index>(), any::<u8>()), 1..30),
    ) {
        let mut bytes = capture(name);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        exercise::import(&bytes);
        exercise::table(&bytes);
    }
}
