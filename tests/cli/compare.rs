//! Compares runs without privileges. Tables from another tool take the place of runs.

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
        "a run is as it is in its own record: {comparison}"
    );
    let page = sandbox.home().join("page.html").display().to_string();
    let _ = sandbox.succeed(&["report", &run, "--output", &page]);
    let comparison = json(&sandbox.succeed(&["compare", &record, &page, "--json"]).out);
    assert_eq!(
        comparison["results"][0]["verdict"], "same",
        "the page has the whole record in it: {comparison}"
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
    assert_ne!(newer, record, "the shape is in it");
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
    for (words, status, printed) in [
        (&["check", "latest", "--against", "main", "--max-loss", "5"][..], 64, "5%"),
        (&["check", "latest"], 64, "--against"),
        (&["check", "latest", "--against", "mian"], 65, "existing baselines: main"),
        (&["check", "nightly", "--against", "main"], 65, "no run is called `nightly`"),
    ] {
        let output = sandbox.plumb(words);
        assert_eq!(output.status, Some(status), "{words:?}: {output:?}");
        assert!(output.err.contains(printed), "{words:?}: {output:?}");
    }
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
