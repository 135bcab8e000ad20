//! Tests with real and damaged output of netperf 2.7.

use samples::ImportedKind;
use units::{Bytes, Nanos};
use workload::{Direction, EndSeries, Measurement, Quantity, Transport};

use super::*;
use crate::imported_test::ImportedTest;

fn read(text: &str) -> Out {
    let mut out = Out::default();
    let mut netperf = Netperf::default();
    let last = text.lines().count();
    for (line, number) in text.lines().zip(1..) {
        let whole = number < last || text.ends_with('\n');
        let _ = netperf.line(&Line { number: number as u64, text: line, whole }, &mut out);
    }
    netperf.end(&mut out);
    out
}

fn values(found: &ImportedTest) -> Vec<(&str, Quantity, f64)> {
    let Measurement::Reported(data) = &found.measurement else { panic!("reported") };
    data.values.iter().map(|value| (value.name.as_str(), value.quantity, value.value)).collect()
}

fn first(out: &Out) -> Vec<(ImportedKind, &str, f64)> {
    let first = |found| (values(found)[0].0, values(found)[0].2);
    out.founds.iter().map(|found| (found.settings.kind, first(found).0, first(found).1)).collect()
}

#[test]
fn parses_classic_tests_with_units() {
    let out = read(include_str!("../../tests/data/netperf-classic.txt"));
    use ImportedKind::{Connect, PingPong, Stream};
    assert_eq!(
        first(&out),
        [
            (Stream, "throughput", 4_409.32e6),
            (Stream, "throughput", 3_895.34e6),
            (Stream, "throughput", 9_990.42e6),
            (PingPong, "transactions", 10_400.32),
            (PingPong, "transactions", 11_569.89),
            (Connect, "connections", 11_504.57),
        ]
    );
    let settings: Vec<_> =
        out.founds.iter().map(|found| (found.settings.transport, found.settings.direction)).collect();
    let (tcp, udp) = (Some(Transport::Tcp), Some(Transport::Udp));
    let (forward, reverse) = (Some(Direction::Forward), Some(Direction::Reverse));
    assert_eq!(
        settings,
        [(tcp, forward), (tcp, reverse), (udp, forward), (tcp, None), (udp, None), (tcp, None)]
    );
    assert_eq!(out.founds[0].settings.message, Some(Bytes(16_384)));
    let sent = ("sent", Quantity::BitRate, 10_170.16e6);
    assert_eq!(values(&out.founds[2])[1], sent);
    assert_eq!(out.notes, Vec::<String>::new());
}

#[test]
fn cpu_of_both_hosts_is_a_share() {
    let out = read(include_str!("../../tests/data/netperf-cpu.txt"));
    let shares: Vec<Vec<_>> = out
        .founds
        .iter()
        .map(|found| {
            values(found)
                .into_iter()
                .filter(|value| value.1 == Quantity::Share)
                .map(|value| value.2)
                .collect()
        })
        .collect();
    assert_eq!(shares, [[0.6256, 0.6256], [0.7065, 0.7065], [0.2784, 0.2784]]);
}

#[test]
fn parses_bare_rows_only_below_their_command() {
    let text = include_str!("../../tests/data/netperf-bare.txt");
    let out = read(text);
    let reported: Vec<_> = first(&out).into_iter().map(|(_, _, value)| value).collect();
    assert_eq!(reported, [4_081.12e6, 9_289.53e6, 9_602.25, 11_291.3]);
    let bare: String =
        text.lines().filter(|line| !line.starts_with('$')).map(|line| format!("{line}\n")).collect();
    assert_eq!(read(&bare), Out::default());
}

#[test]
fn heading_sets_the_unit() {
    let out = read(include_str!("../../tests/data/netperf-units.txt"));
    let reported: Vec<_> = first(&out).into_iter().map(|(_, _, value)| value).collect();
    assert_eq!(
        reported,
        [3.86e9, crate::quantity::as_written(467.18 * 8.0 * 1_048_576.0), 7_656.99e6, 10_328.41]
    );
    assert_eq!(
        out.notes,
        [
            "netperf's test at line 15 did not reach the requested confidence.",
            "netperf test at line 30: skipped rows that do not match its columns: line 41."
        ]
    );
}

#[test]
fn reads_selected_values_in_every_layout() {
    let heading =
        "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 () port 0 AF_INET to 198.18.0.2 () port 0 AF_INET\n";
    let rates = |text: &str| {
        let out = read(text);
        let rate =
            |found: &ImportedTest| values(found).first().map(|(name, _, value)| ((*name).to_owned(), *value));
        (out.founds.iter().filter_map(rate).collect::<Vec<_>>(), out.notes.len())
    };
    let transactions = |rate: f64| ("transactions".to_owned(), rate);
    let throughput = |rate: f64| ("throughput".to_owned(), rate);
    for (text, expected, notes) in [
        (format!("{heading}THROUGHPUT=55000.00\nCONFIDENCE_LEVEL=99\n"), vec![transactions(55_000.0)], 0),
        (
            format!(
                "{heading}Mean Latency Microseconds,Transaction Rate Tran/s\n75000.00,13.300\n76000.00,13.100\n"
            ),
            vec![transactions(13.3), transactions(13.1)],
            0,
        ),
        (
            format!(
                "{heading}Mean         Transaction\nLatency      Rate\nMicroseconds Tran/s\n56.00        17800.5\n"
            ),
            vec![transactions(17_800.5)],
            0,
        ),
        (
            "$ k exec a -- netperf -H b -- -D -O THROUGHPUT\n15000.50\n15100.25\n1 2 3\n".to_owned(),
            vec![throughput(15_000.5e6), throughput(15_100.25e6)],
            1,
        ),
        ("MIGRATED TCP STREAM TEST from a () to b () port 0\nTHROUGHPUT=1.00\n".to_owned(), vec![], 1),
    ] {
        assert_eq!(rates(&text), (expected, notes), "{text}");
    }
}

#[test]
fn interim_results_become_series_of_the_printing_end() {
    let out = read(include_str!("../../tests/data/netperf-interim.txt"));
    let flows: Vec<_> = out
        .founds
        .iter()
        .map(|found| match &found.measurement {
            Measurement::Stream(data) => &data.flows[0],
            other => panic!("a stream, not {other:?}"),
        })
        .collect();
    let lengths = |series: &EndSeries| (series.intervals.len(), series.elapsed());
    assert_eq!(lengths(&flows[0].sender), (5, Nanos(1_000_000_000)));
    assert_eq!(lengths(&flows[0].receiver), (1, Nanos(1_000_000_000)));
    assert!((flows[0].receiver.rate().0 / 4_310.86e6 - 1.0).abs() < 1e-6);
    assert_eq!((lengths(&flows[1].receiver).0, lengths(&flows[1].sender).0), (5, 0));
    assert!((flows[1].receiver.rate().0 / 4_800.26e6 - 1.0).abs() < 0.01);
}

#[test]
fn parses_selected_values_from_lines_and_csv() {
    let keyed = read(include_str!("../../tests/data/netperf-keyed.txt"));
    let reported = values(&keyed.founds[0]);
    assert_eq!(reported[0], ("transactions", Quantity::PerSecond, 10_391.16));
    assert!(reported.contains(&("p99", Quantity::Time, 222_000.0)), "{reported:?}");
    assert!(!reported.iter().any(|value| value.1 == Quantity::Share), "-1 means not measured: {reported:?}");
    assert_eq!(values(&keyed.founds[1]), [("throughput", Quantity::BitRate, 3_643.08e6)]);
    let csv = read(include_str!("../../tests/data/netperf-csv.txt"));
    assert_eq!(values(&csv.founds[0])[1], ("p50", Quantity::Time, 7000.0));
    assert_eq!(csv.founds[0].settings.congestion.as_deref(), Some("bbr"));
    assert!(values(&csv.founds[1]).contains(&("retransmits", Quantity::Count, 2611.0)));
    assert_eq!((keyed.notes.len(), csv.notes.len()), (0, 0));
}

#[test]
fn notes_truncated_and_non_numeric_results() {
    let head = "MIGRATED TCP STREAM TEST from a () port 0 AF_INET to b () port 0 AF_INET\n\
                bytes  bytes   bytes    secs.    10^6bits/sec\n\n";
    let udp = "MIGRATED UDP STREAM TEST from a () port 0 AF_INET to b () port 0 AF_INET\n\
               bytes  bytes   bytes    secs.    10^6bits/sec\n\n";
    for (text, note) in [
        (head.to_owned(), "netperf's test at line 1: skipped: it has no result."),
        (
            format!("{head}131072  16384  16384    1.00     44"),
            "netperf's test at line 1: skipped: it has no result.",
        ),
        (
            format!("{head}131072  16384  16384    1.00     nan\n"),
            "netperf's test (line 1): skipped an invalid result in line 4.",
        ),
        (
            format!("{head}131072  16384  16384    0.00     4409.32\n"),
            "netperf's test (line 1): skipped an invalid result in line 4.",
        ),
        (
            format!("{udp}212992   65507   1.00        19408      0    10170.16\n"),
            "netperf's test at line 1: skipped: it is cut off before the receiver's result.",
        ),
        (
            "THROUGHPUT=nan\nTHROUGHPUT_UNITS=10^6bits/s\n".to_owned(),
            "netperf's values at line 1: skipped: no throughput.",
        ),
    ] {
        let out = read(&text);
        assert_eq!((out.founds.len(), out.notes), (0, vec![note.to_owned()]), "{text}");
    }
    assert_eq!(read("PATH=/usr/bin\nTHROUGHPUT=5\n"), Out::default());
}
