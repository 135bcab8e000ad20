//! `--try-remedies`: measures results with and without each remedy that the lab can apply, in interleaved
//! blocks. This is a separate run. Like any other run, it can be stored, resumed and reported.

use ::scenario::{FactorName, Plan, PlannedResult, ResultId, Scenario, WorkloadName};
use findings::Findings;
use samples::{RemedyTrial, RemedyTrials, RunRecord};
use store::{Store, remedies_name};

use super::{change, job::Job, recreate};
use crate::output;

/// Minimum number of trials with and without a remedy for a 90 % interval.
const FEWEST: u32 = 5;
const REMEDY: &str = "remedy";

pub(super) fn job(main: &RunRecord, store: &Store) -> anyhow::Result<Option<Job>> {
    let source = recreate::stored_source(main)?;
    let (plan, remedy_trials) = plan(main, &source.scenario)?;
    if plan.results.is_empty() {
        output::aside(format_args!("no finding has a remedy that the lab can apply"));
        return Ok(None);
    }
    let (id, claim) = store.claim_new(&remedies_name(&main.header.id))?;
    Ok(Some(Job { source, plan, id, remedy_trials: Some(remedy_trials), resume: None, _claim: claim }))
}

/// The plan depends only on the run, so that resuming a test gives the same plan.
pub(super) fn plan(main: &RunRecord, scenario: &Scenario) -> anyhow::Result<(Plan, RemedyTrials)> {
    let of_main = recreate::stored_plan(main, scenario)?;
    let pairs = pairs(&analysis::analyse(main), &of_main);
    let (results, remedies): (Vec<[PlannedResult; 2]>, Vec<RemedyTrial>) = pairs.into_iter().unzip();
    let blocks = if of_main.design.is_adaptive() { FEWEST } else { main.header.blocks.max(FEWEST) };
    let plan = Plan::of(results.into_iter().flatten().collect(), blocks, main.header.seed, of_main.pause);
    Ok((plan, RemedyTrials { run: main.header.id.clone(), remedies }))
}

fn pairs(findings: &Findings, plan: &Plan) -> Vec<([PlannedResult; 2], RemedyTrial)> {
    let mut seen = Vec::new();
    let mut pairs = Vec::new();
    for claim in &findings.findings {
        let change = claim.remedy.as_ref().and_then(|remedy| remedy.change.as_ref());
        let (Some(change), Some(first)) = (change, claim.results.first()) else { continue };
        let Some(result) = plan.results.iter().find(|result| result.id.as_str() == first) else { continue };
        let Some(changed) = change::applied(result, change) else { continue };
        if !seen.contains(&(&claim.id, first)) {
            seen.push((&claim.id, first));
            pairs.push(pair(&claim.id, result, changed));
        }
    }
    pairs
}

/// Makes a separate workload for each pair. The baseline is the unchanged result, which is measured twice per block
/// to determine the noise.
fn pair(finding: &str, result: &PlannedResult, changed: PlannedResult) -> ([PlannedResult; 2], RemedyTrial) {
    let arm = |result: PlannedResult, word: &str| {
        let mut levels = result.levels.clone();
        levels.insert(FactorName::new(REMEDY), word.to_owned());
        PlannedResult {
            id: ResultId::new(format!("{}/{finding}={word}", result.id)),
            workload: WorkloadName::new(format!("{} ({finding})", result.workload)),
            levels,
            baseline: word == "without",
            ..result
        }
    };
    let tried = RemedyTrial {
        finding: finding.to_owned(),
        result: result.id.to_string(),
        without: format!("{}/{finding}=without", result.id),
        with: format!("{}/{finding}=with", result.id),
    };
    ([arm(result.clone(), "without"), arm(changed, "with")], tried)
}
