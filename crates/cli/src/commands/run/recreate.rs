//! Recreates the plan of a stored run.

use ::scenario::{Plan, PlanOptions, ResultId, Scenario};
use samples::RunRecord;

use super::job::refuse_too_large;
use crate::source::Source;

pub(super) fn stored_source(record: &RunRecord) -> anyhow::Result<Source> {
    let text = record.header.scenario.text.clone();
    let scenario = Scenario::parse(&format!("the stored scenario of run {}", record.header.id), &text)?;
    Ok(Source { scenario, text })
}

pub(super) fn stored_plan(record: &RunRecord, scenario: &Scenario) -> anyhow::Result<Plan> {
    let options = options_of(record);
    refuse_too_large(&options, scenario)?;
    Ok(Plan::expand(scenario, record.header.seed, &options).limited_to(&record.header.probes))
}

fn options_of(record: &RunRecord) -> PlanOptions {
    let header = &record.header;
    let missing = header.missing_probes.iter().map(|missing| missing.probe);
    let requested = header.probes.iter().copied().chain(missing);
    PlanOptions {
        trials: Some(header.blocks),
        budget: header.design.budget,
        precision: header.design.precision,
        objective: Some(header.design.objective),
        probes: Some(requested.collect()),
        results: header.results.iter().map(|it| (ResultId::new(&it.id), it.baseline)).collect(),
        ..PlanOptions::default()
    }
}
