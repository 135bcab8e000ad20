//! Stores with runs derived from the recorded run in the tests of crate `analysis`.

use plumb_tests::Sandbox;
use samples::{RunId, RunRecord};
use serde_json::{Value, json};
use store::{Store, StoreError};

const RECORDED: &str = include_str!("../../crates/analysis/tests/golden/egress.run.json");
const DAY: i64 = 86_400_000;

pub(crate) struct Kept<'a> {
    pub(crate) id: &'a str,
    pub(crate) title: &'a str,
    pub(crate) day: i64,
    pub(crate) share: f64,
    pub(crate) kernel: &'a str,
}

pub(crate) const PLAIN: Kept<'static> =
    Kept { id: "egress-1", title: "What an egress gateway costs", day: 0, share: 1.0, kernel: "6.1.0" };

pub(crate) fn keep(sandbox: &Sandbox, kept: &Kept<'_>) {
    keep_run(sandbox, kept, serde_json::from_str(RECORDED).expect("JSON"));
}

pub(crate) fn keep_with_paths(sandbox: &Sandbox, kept: &Kept<'_>, name: &str) {
    let quoted = json!(name).to_string();
    let recorded = RECORDED.replace("-to-", &quoted[1..quoted.len() - 1]);
    keep_run(sandbox, kept, serde_json::from_str(&recorded).expect("JSON"));
}

fn keep_run(sandbox: &Sandbox, kept: &Kept<'_>, mut run: Value) {
    let header = &mut run["header"];
    header["id"] = json!(kept.id);
    header["scenario"]["name"] = json!("egress-gateway");
    header["scenario"]["title"] = json!(kept.title);
    header["scenario"]["digest"] = json!("0".repeat(64));
    header["started"] = json!(header["started"].as_i64().expect("a time") + kept.day * DAY);
    header["environment"]["kernel"] = json!(kept.kernel);
    for trial in run["trials"].as_array_mut().expect("trials") {
        scale(trial, kept.share);
    }
    let record: RunRecord = serde_json::from_value(run).expect("a run record");
    let mut store = Store::open(sandbox.database()).expect("a store");
    let kept = store.import::<StoreError>(&RunId(kept.id.to_owned()), |importing| {
        record.trials.iter().try_for_each(|trial| importing.trial(trial))?;
        Ok(record.header.clone())
    });
    kept.expect("the run is stored");
}

pub(crate) fn keep_days(sandbox: &Sandbox, shares: &[f64]) {
    for (day, share) in shares.iter().enumerate() {
        let kernel = if *share < 0.9 { "6.12.9" } else { "6.1.0" };
        keep(
            sandbox,
            &Kept { id: &format!("egress-{day}"), day: day as i64, share: *share, kernel, ..PLAIN },
        );
    }
}

fn scale(trial: &mut Value, share: f64) {
    let flows = trial["measurement"]["flows"].as_array_mut().into_iter().flatten();
    for flow in flows {
        for end in ["sender", "receiver"] {
            for interval in flow[end]["intervals"].as_array_mut().into_iter().flatten() {
                let bytes = interval["bytes"].as_f64().expect("a number");
                interval["bytes"] = json!((bytes * share) as u64);
            }
        }
    }
}
