//! Runs of every built-in scenario, built from recorded trials of the same kind with scaled values.

use std::path::PathBuf;

use lab::{Attachments, ExistingHostUse, Request};
use plumb_tests::Sandbox;
use samples::{Arm, Environment, RunId, RunRecord, Trial};
use scenario::{
    Plan, PlanOptions, PlannedTrial, Scenario,
    builtin::{self, Builtin},
};
use serde_json::{Value, json};
use store::{Store, StoreError};
use workload::WorkloadSettings;

/// Returns a made-up trial, because there is no recorded trial of a balloon.
fn balloon() -> Value {
    json!({
        "kind": "balloon", "method": "virtio-balloon", "move": "shrink", "moved": 1_u64 << 30, "first": 1_000_000,
        "elapsed": 2_000_000_000_u64, "touching": 0, "resident_before": 3_u64 << 30, "resident_after": 2_u64 << 30,
        "stall": 4_000_000, "intervals": []
    })
}

pub(crate) fn keep(sandbox: &Sandbox, recorded: &[RunRecord]) -> Vec<String> {
    let mut store = Store::open(sandbox.database()).expect("a store");
    let keep = |builtin: &Builtin| {
        let record = record(builtin, recorded);
        let kept = store.import::<StoreError>(&record.header.id, |importing| {
            record.trials.iter().try_for_each(|trial| importing.trial(trial))?;
            Ok(record.header.clone())
        });
        kept.expect("the run is stored").to_string()
    };
    builtin::all().iter().map(keep).collect()
}

fn record(builtin: &Builtin, recorded: &[RunRecord]) -> RunRecord {
    let scenario = Scenario::parse(builtin.name, builtin.text).expect("a built-in scenario parses");
    let plan = Plan::expand(&scenario, 7, &PlanOptions::default());
    let request = Request {
        scenario: &scenario,
        text: builtin.text,
        plan: &plan,
        id: RunId(format!("builtin-{}", builtin.name)),
        remedy_trials: None,
        resume: None,
        agent: PathBuf::new(),
        firecracker: None,
        tool: "0.1.0",
        keep_disturbed: false,
        hosts: ExistingHostUse::default(),
        fleet: None,
        attachments: Attachments::default().into(),
        inside: None,
    };
    let environment: &Environment = recorded[0].header.environment.as_ref().expect("it was measured");
    let header = lab::header(&request, environment, &[]);
    let trial = |planned: &PlannedTrial| {
        let result = &plan.results[planned.result];
        let scale = 1.0 + 0.02 * f64::from(planned.block % 5) + 0.1 * (planned.result % 7) as f64;
        let trial = alike(&result.load, recorded, scale);
        Trial {
            index: planned.index,
            block: planned.block,
            result: result.id.to_string(),
            arm: planned.arm,
            ..trial
        }
    };
    RunRecord::new(header, plan.trials.iter().map(trial).collect())
}

fn alike(load: &WorkloadSettings, recorded: &[RunRecord], scale: f64) -> Trial {
    let kind = serde_json::to_value(load).expect("JSON")["kind"].clone();
    let trials =
        || recorded.iter().flat_map(|record| &record.trials).filter(|trial| trial.arm == Arm::Measure);
    let documents = trials().map(|trial| serde_json::to_value(trial).expect("JSON"));
    let same = { documents }.find(|trial| trial["measurement"]["kind"] == kind);
    let mut trial = same.unwrap_or_else(|| {
        let mut trial = serde_json::to_value(trials().next().expect("a trial")).expect("JSON");
        trial["measurement"] = balloon();
        trial
    });
    (trial["devices"], trial["warnings"]) = (json!([]), json!([]));
    for flow in trial["measurement"]["flows"].as_array_mut().into_iter().flatten() {
        for end in ["sender", "receiver"] {
            for interval in flow[end]["intervals"].as_array_mut().into_iter().flatten() {
                interval["bytes"] = json!((interval["bytes"].as_f64().unwrap_or(0.0) * scale) as u64);
            }
        }
    }
    serde_json::from_value(trial).expect("a trial")
}
