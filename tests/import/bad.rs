//! Tests truncated logs, and files that are not logs.

use crate::{data, sandbox};

pub(crate) fn no_logs() {
    let sandbox = sandbox();
    let folder = sandbox.home().to_str().expect("plain").to_owned();
    for (file, printed) in [
        (sandbox.file("empty.txt", ""), "empty.txt is empty"),
        (sandbox.file("prose.txt", "Nothing was measured.\n"), "nothing to import in"),
        (sandbox.file("picture.png", "\u{1}\0\u{2}"), "is not a text file"),
        (folder, "is a directory"),
        ("missing.txt".to_owned(), "cannot open missing.txt"),
    ] {
        let output = sandbox.plumb(&["import", &file]);
        assert_eq!(output.status, Some(64), "{file}: {output:?}");
        assert!(output.err.contains(printed), "{file}: {}", output.err);
    }
    assert!(sandbox.succeed(&["runs"]).out.contains("no runs stored"));
}

pub(crate) fn nothing_half_stored() {
    let sandbox = sandbox();
    let bad = sandbox.file("bad.bin", "\u{1}\0\u{2}");
    let output = sandbox.plumb(&["import", &data("vhost-net.md"), &bad]);
    assert_eq!(output.status, Some(64), "{output:?}");
    assert!(
        output.err.contains("bad.bin is not a text file") && output.err.contains("nothing was imported"),
        "{}",
        output.err
    );
    assert!(sandbox.succeed(&["runs"]).out.contains("no runs stored"));
}

pub(crate) fn names_all_bad_files() {
    let sandbox = sandbox();
    let broken = sandbox.file("broken.json", "{\"start\": {\n\"a\": 1,\n");
    let prose = sandbox.file("prose.txt", "Nothing was measured.\n");
    let good = data("iperf3/tcp.client.txt");
    let output = sandbox.plumb(&["import", &broken, &good, &prose]);
    assert_eq!(output.status, Some(64), "{output:?}");
    for printed in ["2 of 3 files", "JSON document truncated", "nothing to import in", "--skip-unreadable"] {
        assert!(output.err.contains(printed), "{printed} is missing in:\n{}", output.err);
    }
    let output = sandbox.plumb(&["import", &broken]);
    assert!(!output.err.contains("supported formats") && !output.err.contains("--skip"), "{}", output.err);
    let output = sandbox.plumb(&["import", "--skip-unreadable", &broken, &prose]);
    assert_eq!(output.status, Some(64), "{output:?}");
    assert!(sandbox.succeed(&["runs"]).out.contains("no runs stored"));

    let output = sandbox.succeed(&["import", "--skip-unreadable", "--sources", &broken, &good, &prose]);
    let reported = &output.out;
    assert!(reported.contains("tcp.client.txt:1-") && reported.contains("imported 1 trial"), "{reported}");
    for printed in ["left out: nothing to import in", "broken.json: ", "prose.txt: "] {
        assert!(output.err.contains(printed), "{printed} is missing in:\n{}", output.err);
    }
}

pub(crate) fn cut_off() {
    let sandbox = sandbox();
    let text = std::fs::read_to_string(data("vhost-net.md")).expect("test data");
    let within = text.find("31.00-32.00").expect("a test of a minute");
    let file = sandbox.file("cut.md", &text[..within]);
    let output = sandbox.succeed(&["import", &file]);
    assert!(output.err.contains("cut.md: lines ") && output.err.contains("cut off"), "{}", output.err);
    let report = sandbox.succeed(&["report", "--format", "markdown"]).out;
    assert!(report.contains("cut off"), "{report}");
}

pub(crate) fn wrong_words() {
    let sandbox = sandbox();
    let table = sandbox.file("t.md", "| Queue | Rate (Gbit/s) |\n| --- | --- |\n| 1 | 5.1 |\n| 2 | 7.3 |\n");
    for (args, printed) in [
        (["--factor", "nope"], "no table has a column `nope`"),
        (["--metric", "nope"], "available columns: Queue, Rate (Gbit/s)"),
        (["--name", "latest"], "invalid run name `latest`"),
        (["--name", "baseline:x"], "invalid run name `baseline:x`"),
    ] {
        let output = sandbox.plumb(&["import", args[0], args[1], &table]);
        assert_eq!(output.status, Some(64), "{args:?}: {output:?}");
        assert!(output.err.contains(printed), "{args:?}: {}", output.err);
    }
    assert!(sandbox.succeed(&["runs"]).out.contains("no runs stored"));
    let words = ["import", "--sources", "--factor", "queue", "--metric", "Rate", &table];
    let reported = sandbox.succeed(&words).out;
    assert!(reported.contains("t.md:3-4  a table, 2 rows  as "), "{reported}");
    assert!(reported.contains("imported 2 trials in 2 results"), "{reported}");
}

pub(crate) fn sources_on_request() {
    let sandbox = sandbox();
    let head = "| Queue | Rate (Gbit/s) | Jitter (ms) | Delay (ms) |\n| --- | --- | --- | --- |\n";
    let rows = "| 1 | 5.1 | 2 | 3 |\n| 2 | odd | odd | odd |\n| 3 | 5.2 | 2 | 3 |\n";
    let file = sandbox.file("t.md", &format!("{head}{rows}"));
    let brief = sandbox.succeed(&["import", &file]);
    assert_eq!(brief.out.lines().count(), 1, "{}", brief.out);
    assert!(brief.err.contains("notes: `plumb report import-"), "{}", brief.err);
    let full = sandbox.succeed(&["import", "--sources", &file]);
    assert!(full.out.contains("t.md:3  a table") && full.err.matches("note: ").count() > 2, "{full:?}");
}
