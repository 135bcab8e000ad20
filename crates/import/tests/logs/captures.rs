//! Passes tool output through the whole reader. Each capture must be recognized, alone and within other text.

use std::convert::Infallible;

use import::{FileReport, ImportError, ImportedTest, Options, read};
use workload::Measurement;

const CAPTURES: [(&str, &[u8], &str, usize); 15] = [
    ("sockperf text", include_bytes!("../data/sockperf-ping-pong.txt"), "sockperf text", 1),
    ("sockperf, whole round trips", include_bytes!("../data/sockperf-tcp-full-rtt.txt"), "sockperf text", 1),
    ("sockperf throughput", include_bytes!("../data/sockperf-throughput.txt"), "sockperf text", 1),
    ("sockperf log", include_bytes!("../data/sockperf-under-load-log.csv"), "sockperf full log", 1),
    ("netperf", include_bytes!("../data/netperf-classic.txt"), "netperf text", 6),
    ("netperf with CPU", include_bytes!("../data/netperf-cpu.txt"), "netperf text", 3),
    ("netperf bare", include_bytes!("../data/netperf-bare.txt"), "netperf text", 4),
    ("netperf interim", include_bytes!("../data/netperf-interim.txt"), "netperf text", 2),
    ("netperf keyed", include_bytes!("../data/netperf-keyed.txt"), "netperf values", 2),
    ("netperf CSV", include_bytes!("../data/netperf-csv.txt"), "netperf values", 2),
    ("flent", include_bytes!("../data/flent-tcp-download.flent"), "flent", 2),
    ("flent, compressed", include_bytes!("../data/flent-tcp-upload.flent.gz"), "flent", 2),
    ("strace -c", include_bytes!("../data/strace-summary.txt"), "strace -c", 1),
    ("strace -c -f -w", include_bytes!("../data/strace-elapsed.txt"), "strace -c", 1),
    ("perf trace -s", include_bytes!("../data/perf-trace-summary.txt"), "perf trace -s", 1),
];

fn import(bytes: &[u8]) -> Result<(Vec<ImportedTest>, FileReport), ImportError<Infallible>> {
    let mut found = Vec::new();
    let mut input = bytes;
    let report = read::<Infallible>("capture", &mut input, &Options::default(), &mut |test| {
        found.push(test);
        Ok(())
    })?;
    Ok((found, report))
}

#[test]
fn recognizes_every_capture() {
    for (name, bytes, format, tests) in CAPTURES {
        let (found, report) = import(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(report.file.formats, [format], "{name}");
        assert_eq!(found.len(), tests, "{name}");
    }
}

#[test]
fn separates_captures_in_one_text() {
    let plain = CAPTURES.iter().filter(|(_, bytes, ..)| !bytes.starts_with(&[0x1f, 0x8b]));
    let mut text = Vec::new();
    let mut expected = 0;
    for (name, bytes, _, tests) in plain {
        text.extend_from_slice(format!("# {name}\n\nSome words.\n\n```\n").as_bytes());
        text.extend_from_slice(bytes);
        text.extend_from_slice(b"```\n\n");
        expected += tests;
    }
    let (found, _) = import(&text).expect("tests");
    assert_eq!(found.len(), expected);
    assert!(found.iter().all(|test| !test.title.is_empty()));
}

#[test]
fn rrul_has_flows_in_both_directions_and_pings() {
    let (found, report) = import(include_bytes!("../data/flent-rrul.flent.gz")).expect("a data file");
    let Measurement::Stream(data) = &found[0].measurement else { panic!("streams first") };
    assert_eq!((data.flows.len(), found[0].settings.streams), (8, Some(4)));
    assert_eq!(found.len(), 3, "streams, single round trips, means");
    let Measurement::Reported(means) = &found[2].measurement else { panic!("means") };
    assert_eq!(means.values.len(), 3);
    assert_eq!(report.notes.len(), 1, "{:?}", report.notes);
}

#[test]
fn rejects_truncated_compressed_file() {
    let bytes = include_bytes!("../data/flent-tcp-upload.flent.gz");
    let error = import(&bytes[..bytes.len() / 2]).expect_err("truncated");
    assert!(matches!(error, ImportError::Read { .. }), "{error}");
}

/// Unoptimized builds are slow, so they cut logs only at some positions.
#[test]
fn truncated_captures_never_yield_extra_tests() {
    for (name, bytes, _, tests) in
        CAPTURES.into_iter().filter(|(_, bytes, ..)| !bytes.starts_with(&[0x1f, 0x8b]))
    {
        for cut in (0..bytes.len()).step_by(97) {
            if let Ok((found, _)) = import(&bytes[..cut]) {
                assert!(found.len() <= tests, "{name} cut at {cut}");
            }
        }
    }
}
