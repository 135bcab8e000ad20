//! Recreates the plan of a stored run.

use ::scenario::{Plan, PlanOptions, ResultId, Scenario};
use samples::RunRecord;

use super::{counted, job::refuse_too_large};
use crate::source::Source;

pub(super) fn stored_source(record: &RunRecord) -> anyhow::Result<Source> {
    let text = record.header.scenario.text.clone();
    let scenario = Scenario::parse(&format!("the stored scenario of run {}", record.header.id), &text)?;
    Ok(Source { scenario, text })
}

pub(super) fn stored_plan(record: &RunRecord, scenario: &Scenario) -> anyhow::Result<Plan> {
    let options = options_of(record);
    refuse_too_large(&options, scenario)?;
    let mut plan = Plan::expand(scenario, record.header.seed, &options).limited_to(&record.header.probes);
    counted::prepare_again(&record.header, scenario, &mut plan)?;
    Ok(plan)
}

fn options_of(record: &RunRecord) -> PlanOptions {
    let header = &record.header;
    let missing = header.missing_probes.iter().map(|missing| missing.probe);
    let requested = header.probes.iter().copied().chain(missing);
    PlanOptions {
        trials: Some(header.blocks),
        stored: Some(header.design),
        probes: Some(requested.collect()),
        results: header.results.iter().map(|it| (ResultId::new(&it.id), it.baseline)).collect(),
        ..PlanOptions::default()
    }
}
