//! Tests invalid plans, and the watch commands that send no traffic.

use plumb_tests::Sandbox;
use serde_json::Value;

use crate::{
    sandbox,
    stored_runs::{self, KINDS},
};

const HOURLY: &str = "[[measure]]\nscenario = \"quick\"\nevery = \"1h\"\n";

pub(crate) fn refuses_an_invalid_plan() {
    let sandbox = sandbox();
    let other = sandbox.succeed(&["scenario", "show", "quick"]).out;
    let _ = sandbox.file("other.toml", &other);
    for (plan, printed) in [
        (HOURLY.replace("every", "evry"), &["unknown field `evry`", "plan.toml:3"][..]),
        (HOURLY.replace("1h", "1s"), &["use 1min to 744h", "plan.toml:3"]),
        (HOURLY.replace("quick", "quikc"), &["no built-in scenario or run `quikc`", "did you mean `quick`"]),
        (HOURLY.replace("quick", "./none.toml"), &["cannot read scenario file", "none.toml"]),
        (
            HOURLY.replace("quick", "other.toml") + HOURLY,
            &["two scenarios of the plan have the same name `quick`"],
        ),
        (format!("{HOURLY}baseline = \"main\"\n"), &["no baseline `main`", "plumb baseline set main"]),
        ("x".repeat(2 << 20), &["longer than"]),
    ] {
        let file = sandbox.file("plan.toml", &plan);
        let output = sandbox.plumb(&["watch", &file, "--once"]);
        assert_eq!(output.status, Some(64), "{output:?}");
        for part in printed {
            assert!(output.err.contains(part) && output.out.is_empty(), "no `{part}`: {output:?}");
        }
    }
    for words in [&["watch"][..], &["watch", "no.toml"], &["watch", "no.toml", "--once", "--for", "1h"]] {
        assert_eq!(sandbox.plumb(words).status, Some(64), "{words:?}");
    }
    assert!(!sandbox.database().exists(), "a run was stored");
}

fn with_a_run(budget: &str) -> (Sandbox, String) {
    let sandbox = stored_runs::with_run(KINDS);
    let record = sandbox.succeed(&["report", "latest:kinds", "--format", "raw"]).out;
    let record: Value = serde_json::from_str(&record).expect("a record is JSON");
    let _ = sandbox.file("kinds.toml", record["header"]["scenario"]["text"].as_str().expect("a text"));
    let plan = HOURLY.replace("quick", "kinds.toml") + &format!("[budget]\nbytes_per_day = \"{budget}\"\n");
    let plan = sandbox.file("plan.toml", &plan);
    (sandbox, plan)
}

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a document a line")).collect()
}

pub(crate) fn dry_run_shows_next_day() {
    let (sandbox, plan) = with_a_run("1000GB");
    let shown = rows(&sandbox.succeed(&["watch", &plan, "--dry-run", "--json"]).out);
    let bytes = shown[0]["bytes"].as_u64().expect("a run is stored");
    assert!(bytes > 1_000_000, "streams were sent: {shown:?}");
    assert_eq!(
        (&shown[0]["scenario"], &shown[0]["measurements"], &shown[0]["skipped"]),
        (&"kinds".into(), &24.into(), &0.into())
    );
    let page = sandbox.succeed(&["watch", &plan, "--dry-run"]).out;
    for part in ["1 h ± 6 min", "kinds", "in the next 24 hours", "; budget "] {
        assert!(page.contains(part), "no `{part}` in\n{page}");
    }
    let before = sandbox.succeed(&["runs", "--json"]).out;
    // The budget allows ten runs per day, and the next 24 hours are parts of two days.
    let (tight, plan) = with_a_run(&(10 * bytes).to_string());
    let shown = rows(&tight.succeed(&["watch", &plan, "--dry-run", "--json"]).out);
    let of = |key: &str| shown[0][key].as_u64().expect("a count");
    assert!(of("skipped") > 0 && of("measurements") + of("skipped") == 24, "{shown:?}");
    assert_eq!(sandbox.succeed(&["runs", "--json"]).out, before, "a run was measured");

    let empty = crate::sandbox();
    let plan = empty.file("plan.toml", HOURLY);
    let shown = rows(&empty.succeed(&["watch", &plan, "--dry-run", "--json"]).out);
    assert!(shown[0]["bytes"].is_null() && shown[0]["measurements"] == 24, "{shown:?}");
    assert!(!empty.database().exists(), "no file is made");
}

pub(crate) fn skips_what_exceeds_the_budget() {
    let (sandbox, plan) = with_a_run("1kB");
    let before = sandbox.succeed(&["runs", "--json"]).out;
    let output = sandbox.succeed(&["watch", &plan, "--once", "--json"]);
    let document = &rows(&output.out)[0];
    assert_eq!((&document["verdict"], &document["run"]), (&"skipped".into(), &Value::Null), "{document}");
    let reason = document["reason"].as_str().expect("a reason");
    assert!(
        reason.contains("it may send") && reason.contains("0 B of today's budget of 1000 B are used"),
        "{reason}"
    );
    let again = sandbox.succeed(&["watch", &plan, "--once"]);
    assert!(again.out.is_empty() && again.err.contains("no measurement is due"), "{again:?}");
    assert_eq!(sandbox.succeed(&["runs", "--json"]).out, before, "a run was measured");
    let (sandbox, plan) = with_a_run("1kB");
    let line = sandbox.succeed(&["watch", &plan, "--once"]).out;
    assert!(line.contains("  kinds  skipped: it may send"), "{line}");
}

pub(crate) fn unreadable_store_is_no_loss() {
    let sandbox = sandbox();
    let plan = sandbox.file("plan.toml", HOURLY);
    std::fs::write(sandbox.database(), "no database").expect("own file");
    let output = sandbox.plumb(&["watch", &plan, "--once"]);
    assert_eq!(output.status, Some(65), "{output:?}");
}
