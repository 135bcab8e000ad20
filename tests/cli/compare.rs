//! Compares runs without privileges, using another tool's tables as runs.

use plumb_tests::Sandbox;
use serde_json::Value;

use crate::sandbox;

fn table(sandbox: &Sandbox, name: &str, gbits: f64, trials: usize) -> String {
    let steps = [0.0, 0.02, -0.02, 0.01, 0.04, -0.03, 0.03, -0.01];
    let rows: Vec<String> =
        steps.iter().cycle().take(trials).map(|step| format!("| 4 | {:.2} |", gbits + step)).collect();
    let head = "# A bridge\n\n| Streams | Throughput (Gbit/s) |\n| --- | --- |";
    sandbox.file(name, &format!("{head}\n{}\n", rows.join("\n")))
}

fn kept(sandbox: &Sandbox, file: &str) -> String {
    sandbox.succeed(&["import", "--quiet", file]).out.trim().to_owned()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

pub(crate) fn compares_runs_and_files() {
    let sandbox = sandbox();
    let (a, b) = (table(&sandbox, "a.md", 9.4, 8), table(&sandbox, "b.md", 6.4, 8));
    let shown = sandbox.succeed(&["compare", &a, &b]).out;
    let places = ["Environment", "All results", "Verdict"].map(|part| shown.find(part));
    assert!(places.is_sorted() && places[0].is_some(), "environment, results, verdict: {shown}");
    assert!(shown.contains("B is worse than A"), "{shown}");
    assert!(!sandbox.database().exists(), "two files need no store");

    let run = kept(&sandbox, &a);
    let record = sandbox.home().join("record.json").display().to_string();
    let _ = sandbox.succeed(&["report", &run, "--format", "raw", "--output", &record]);
    let comparison = json(&sandbox.succeed(&["compare", &run, &record, "--json"]).out);
    assert_eq!(
        comparison["results"][0]["verdict"], "same",
        "a run and its own record have equal results: {comparison}"
    );
    let page = sandbox.home().join("page.html").display().to_string();
    let _ = sandbox.succeed(&["report", &run, "--output", &page]);
    let comparison = json(&sandbox.succeed(&["compare", &record, &page, "--json"]).out);
    assert_eq!(
        comparison["results"][0]["verdict"], "same",
        "the page contains the whole record: {comparison}"
    );
    let again = sandbox.succeed(&["report", &page, "--format", "raw"]).out;
    assert_eq!(json(&again), json(&std::fs::read_to_string(&record).expect("was written")));
    let rows = sandbox.succeed(&["compare", "latest", &b, "--format", "csv"]).out;
    assert!(rows.lines().count() == 2 && rows.contains(",worse,"), "{rows}");
    let page = sandbox.home().join("pages/comparison.md");
    let named = page.to_str().expect("plain");
    let _ = sandbox.succeed(&["compare", &run, &b, "--output", named]);
    assert!(std::fs::read_to_string(&page).expect("was written").starts_with("# "), "a folder is made");
}

pub(crate) fn describes_files_that_are_not_runs() {
    let sandbox = sandbox();
    let a = table(&sandbox, "a.md", 9.4, 8);
    let run = kept(&sandbox, &a);
    let record = sandbox.succeed(&["report", &run, "--format", "raw"]).out;
    let newer = record.replacen(r#""schema": 1"#, r#""schema": 99"#, 1);
    assert_ne!(newer, record, "the record has a schema number");
    let report = sandbox.succeed(&["report", &run, "--format", "json"]).out;
    for (name, text, status, printed) in [
        ("newer.json", newer.as_str(), 64, "schema 99"),
        ("report.json", &report, 64, "report without trials"),
        ("cut.json", &record[..record.len() / 2], 1, "cannot read the run record"),
        ("page.html", "<!doctype html><html></html>", 64, "a page without an embedded run record"),
        ("list.txt", "milk, bread\n", 64, "list.txt"),
        ("empty.log", "", 64, "empty.log"),
    ] {
        let file = sandbox.file(name, text);
        let output = sandbox.plumb(&["compare", &run, &file]);
        assert_eq!(output.status, Some(status), "{name}: {output:?}");
        assert!(output.err.contains(printed) && output.out.is_empty(), "{name}: {output:?}");
    }
    let missing = sandbox.plumb(&["compare", &run, "no/such/file.json"]);
    assert!(
        missing.status == Some(64) && missing.err.contains("no such file no/such/file.json"),
        "{missing:?}"
    );
}

pub(crate) fn gate_sets_the_exit_status() {
    let sandbox = sandbox();
    let main = table(&sandbox, "main.md", 9.4, 8);
    let _ = sandbox.succeed(&["baseline", "set", "main", &kept(&sandbox, &main)]);
    let check = |gbits: f64, trials: usize, most: &str| {
        let file = table(&sandbox, "candidate.md", gbits, trials);
        let output = sandbox.plumb(&["check", &file, "--against", "main", "--max-loss", most, "--json"]);
        (output.status, json(&output.out)["gate"]["outcome"].clone())
    };
    assert_eq!(check(9.4, 8, "20%"), (Some(0), "passed".into()));
    assert_eq!(check(6.4, 8, "10%"), (Some(1), "regressed".into()));
    assert_eq!(check(9.0, 2, "5%"), (Some(2), "undecided".into()), "two trials establish nothing");
    let run = kept(&sandbox, &table(&sandbox, "candidate.md", 6.4, 8));
    let output = sandbox.plumb(&["check", &run, "--against", "main", "--format", "junit"]);
    assert!(output.status == Some(1) && output.out.contains("<failure "), "{output:?}");
    let page = sandbox.home().join("check.xml").display().to_string();
    let _ = sandbox.plumb(&["check", &run, "--against", "main", "-o", &page]);
    assert_eq!(std::fs::read_to_string(&page).expect("was written"), output.out);
    for (words, status, printed) in [
        (&["check", "latest", "--against", "main", "--max-loss", "5"][..], 64, "5%"),
        (&["check", "latest"], 64, "--against"),
        (&["compare", "latest", "main", "--format", "junit"], 64, "no limits"),
        (&["check", "latest", "--against", "mian"], 65, "existing baselines: main"),
        (&["check", "nightly", "--against", "main"], 65, "no run is called `nightly`"),
    ] {
        let output = sandbox.plumb(words);
        assert_eq!(output.status, Some(status), "{words:?}: {output:?}");
        assert!(output.err.contains(printed), "{words:?}: {output:?}");
    }
}

fn rows(sandbox: &Sandbox, name: &str, head: &str, row: impl Fn(usize) -> String) -> String {
    let rows: Vec<String> = (0..8).map(row).collect();
    sandbox.file(name, &format!("# A path\n\n{head}\n{}\n", rows.join("\n")))
}

pub(crate) fn gate_fails_on_longer_tail_and_on_silent_trials() {
    let sandbox = sandbox();
    let tail = |name: &str, p99: f64| {
        let head = "| Streams | Throughput (Gbit/s) | p99 (us) |\n| --- | --- | --- |";
        rows(&sandbox, name, head, |at| {
            format!("| 1 | {:.2} | {:.2} |", 9.4 + 0.01 * at as f64, p99 * (1.0 + 0.01 * at as f64))
        })
    };
    let rate = |name: &str, silent: usize| {
        let head = "| Streams | Throughput (Gbit/s) |\n| --- | --- |";
        rows(&sandbox, name, head, |at| match at < silent {
            true => "| 1 | 0 |".to_owned(),
            false => format!("| 1 | {:.2} |", 9.4 + 0.01 * at as f64),
        })
    };
    let check = |a: &str, b: &str, more: &[&str]| {
        let words = [&["check", b, "--against", a, "--max-loss", "20%"], more].concat();
        let output = sandbox.plumb(&words);
        (output.status, output.out)
    };
    let (short, equal, long) = (tail("a.md", 27.0), tail("b.md", 27.1), tail("c.md", 800.0));
    let (status, shown) = check(&short, &equal, &[]);
    assert_eq!(status, Some(0), "{shown}");
    let (status, shown) = check(&short, &long, &[]);
    assert_eq!(status, Some(1), "{shown}");
    assert!(shown.contains("99th percentile rose from 27") && shown.contains("Guarded metrics"), "{shown}");
    assert_eq!(check(&short, &long, &["--max-p99", "5000%"]).0, Some(0));
    let compared = sandbox.succeed(&["compare", &short, &long]).out;
    assert!(compared.contains("A guarded metric got worse."), "{compared}");

    let (full, one, most) = (rate("d.md", 0), rate("e.md", 1), rate("f.md", 7));
    assert_eq!(check(&full, &full, &[]).0, Some(0));
    assert_eq!(check(&full, &one, &[]).0, Some(2), "one silent trial may be chance");
    let (status, shown) = check(&full, &most, &[]);
    assert!(status == Some(1) && shown.contains("Nothing arrived in"), "{shown}");
}

fn nights(sandbox: &Sandbox, rates: &[f64]) {
    let run = kept(sandbox, &table(sandbox, "night.md", 9.4, 2));
    let mut record = json(&sandbox.succeed(&["report", &run, "--format", "raw"]).out);
    for (night, rate) in (0..).zip(rates) {
        let header = &mut record["header"];
        header["id"] = format!("night-{night:02}").into();
        header["started"] = (1_795_000_000_000_i64 + night * 86_400_000).into();
        (header["scenario"]["name"], header["scenario"]["digest"]) = ("quick".into(), "ba5e".into());
        for trial in record["trials"].as_array_mut().expect("a list") {
            trial["measurement"]["values"][0]["value"] = (rate * 1e9).into();
        }
        let file = sandbox.file("night.json", &record.to_string());
        let _ = sandbox.succeed(&["runs", "import", &file]);
    }
}

pub(crate) fn history_shows_level_shift_and_unexpected_run() {
    let steady = [9.40, 9.42, 9.38, 9.41, 9.39, 9.40, 9.43, 9.37, 9.41, 9.40];
    for (last, found) in [
        (&[9.41][..], "steady"),
        (&[8.9], "the newest run is below the expected range"),
        (&[8.90, 8.92, 8.88, 8.91], "shift from 9.40 to 8.90 Gbit/s (−5.3 %) since night-10"),
    ] {
        let sandbox = sandbox();
        nights(&sandbox, &[&steady, last].concat());
        let shown = sandbox.succeed(&["runs", "history", "quick"]).out;
        assert!(shown.contains(found), "{found}: {shown}");
        let entries = json(&sandbox.succeed(&["runs", "history", "quick", "--json"]).out);
        assert_eq!(entries[0]["points"].as_array().map(Vec::len), Some(10 + last.len()), "{entries}");
    }
    let missing = sandbox().plumb(&["runs", "history", "quick"]);
    assert!(missing.status == Some(64) && missing.err.contains("no run of scenario"), "{missing:?}");
    assert!(missing.err.contains("`plumb runs` lists"), "{missing:?}");
}

pub(crate) fn baseline_stays_until_its_name_is_removed() {
    let sandbox = sandbox();
    let none = sandbox.succeed(&["baseline", "list"]).out;
    assert!(none.contains("plumb baseline set"), "{none}");
    let run = kept(&sandbox, &table(&sandbox, "a.md", 9.4, 8));
    let unknown = sandbox.plumb(&["baseline", "set", "main", "nightly"]);
    assert!(unknown.status == Some(1) && unknown.err.contains("nightly"), "{unknown:?}");
    let wrong = sandbox.plumb(&["baseline", "set", "two words", &run]);
    assert!(wrong.status == Some(64) && wrong.err.contains("letters"), "{wrong:?}");
    let _ = sandbox.succeed(&["baseline", "set", "main", "latest"]);

    for command in [&["baseline", "list"][..], &["runs", "list"], &["baseline", "show", "main"]] {
        let shown = sandbox.succeed(command).out;
        assert!(shown.contains(&run), "{command:?}: {shown}");
    }
    let listed = sandbox.succeed(&["runs"]).out;
    assert!(listed.contains("imported") && listed.contains("main"), "{listed}");
    let refused = sandbox.plumb(&["runs", "remove", &run]);
    assert!(refused.status == Some(1) && refused.err.contains("plumb baseline remove"), "{refused:?}");
    let _ = sandbox.succeed(&["baseline", "remove", "main"]);
    let _ = sandbox.succeed(&["runs", "remove", &run]);
}
