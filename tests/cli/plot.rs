//! Tests that `plumb plot` draws charts from other tools' logs.

use std::fs;

use plumb_tests::Sandbox;

use super::sandbox;

const SWEEP: &str = include_str!("../../crates/import/tests/data/queues-and-channels.md");

fn log(sandbox: &Sandbox) -> String {
    sandbox.file("queues.md", SWEEP)
}

pub(crate) fn writes_every_listed_picture() {
    let sandbox = sandbox();
    let file = log(&sandbox);
    let listed = sandbox.succeed(&["plot", &file]).out;
    for kind in ["sweep", "heat-map", "frontier", "results"] {
        assert!(listed.lines().any(|line| line.starts_with(kind)), "no {kind} in {listed}");
        let path = |ending: &str| sandbox.home().join(format!("{kind}.{ending}"));
        for ending in ["svg", "png", "csv"] {
            let target = path(ending).display().to_string();
            let _ = sandbox.succeed(&["plot", &file, "--kind", kind, "-o", &target]);
        }
        let svg = fs::read_to_string(path("svg")).expect("a picture");
        assert!(svg.starts_with("<?xml") && svg.trim_end().ends_with("</svg>"), "{svg}");
        assert!(fs::read(path("png")).expect("a picture").starts_with(b"\x89PNG\r\n"));
        let csv = fs::read_to_string(path("csv")).expect("a table");
        assert!(
            csv.starts_with("result,path,workload,metric,unit,value") && csv.lines().count() > 4,
            "{csv}"
        );
    }
    let folder = sandbox.home().join("pictures");
    let _ = sandbox.succeed(&["plot", &file, "-o", &format!("{}/", folder.display())]);
    assert_eq!(
        fs::read_dir(&folder).expect("a folder").count(),
        listed.lines().filter(|line| !line.starts_with(' ')).count()
    );
    let page = sandbox.home().join("page.html").display().to_string();
    let _ = sandbox.succeed(&["report", &file, "-o", &page]);
    let page = fs::read_to_string(page).expect("a page");
    assert!(
        page.contains("<figure id=\"sweep-") && page.contains("download=\"heat-map-"),
        "the page contains the pictures"
    );
}

pub(crate) fn draws_two_logs_in_one_picture() {
    let sandbox = sandbox();
    let (a, b) = (log(&sandbox), sandbox.file("other.md", SWEEP));
    let target = sandbox.home().join("b.csv").display().to_string();
    let _ = sandbox.succeed(&["plot", &b, "--against", &a, "-o", &target]);
    let csv = fs::read_to_string(target).expect("a table");
    assert!(csv.lines().skip(1).all(|row| row.contains(",1,")), "a value divided by itself is 1: {csv}");
}

pub(crate) fn overlays_runs_and_quantities() {
    let sandbox = sandbox();
    let capture = include_str!("../../crates/import/tests/data/iperf3/tcp.client.json");
    let ping = include_str!("../../crates/import/tests/data/sockperf-tcp-full-rtt-log.csv");
    let both = |name: &str, text: &str| ["a", "b"].map(|run| sandbox.file(&format!("{run}.{name}"), text));
    let csv = |kind: &str, files: &[String]| {
        let target = sandbox.home().join("c.csv").display().to_string();
        let words: Vec<&str> = files.iter().map(String::as_str).collect();
        let _ = sandbox.succeed(&[&["plot", "--kind", kind, "-o", &target], &words[..]].concat());
        fs::read_to_string(target).expect("a table")
    };
    let one = csv("time-series", &both("json", capture)[..1]);
    assert!(one.contains(",throughput,") && one.contains(",round trip under load,"), "{one}");
    for (kind, files) in [("time-series", both("json", capture)), ("cdf", both("csv", ping))] {
        let drawn = csv(kind, &files);
        for file in &files {
            assert!(drawn.lines().any(|row| row.contains(file.as_str())), "{kind}: no {file} in {drawn}");
        }
    }
    let apart = sandbox.plumb(&["plot", &both("json", capture)[0], &both("csv", ping)[1]]);
    assert!(apart.status == Some(64) && apart.err.contains("no common result"), "{apart:?}");
}

pub(crate) fn explains_invalid_requests() {
    let sandbox = sandbox();
    let file = log(&sandbox);
    for (flags, printed) in [
        (&["-o", "x.gif"][..], "file extension of x.gif is not supported"),
        (&["--kind", "sweep", "--number", "99", "-o", "x.svg"], "--number 99"),
        (&["--kind", "sweep", "--number", "0", "-o", "x.svg"], "--number 0"),
        (&["--kind", "latency-breakdown"], "has no chart of kind latency-breakdown"),
        (&["--kind", "comparison"], "--against RUN"),
        (&["--kind", "pie"], "possible values"),
    ] {
        let output = sandbox.plumb(&[&["plot", file.as_str()], flags].concat());
        assert_eq!(output.status, Some(64), "{flags:?}: {}", output.err);
        assert!(output.err.contains(printed), "{flags:?}: {}", output.err);
    }
}
