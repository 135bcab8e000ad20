//! Resumes an interrupted run. Its plan, recreated from the stored record, must be unchanged.

use ::scenario::Plan;
use samples::{RunId, RunRecord, RunState};
use store::Store;

use super::{
    RunArgs,
    job::Job,
    recreate::{stored_plan, stored_source},
    remedies,
};
use crate::{failure::Misuse, global_flags::GlobalFlags, program::TOOL, source};

pub(super) fn resumed(
    args: &RunArgs,
    which: &str,
    store: &Store,
    shared: &GlobalFlags,
) -> anyhow::Result<Job> {
    let id = if which.is_empty() { latest_unfinished(args, store, shared)? } else { store.resolve(which)? };
    let claim = store.claim(&id)?;
    let record = store.load(&id)?;
    if record.header.state == RunState::Complete {
        let message =
            format!("run {id} is complete: all {} trials were run or skipped", record.header.planned);
        return Err(Misuse::new(message).hint(format!("`plumb report {id}` shows it")).into());
    }
    let (source, plan, remedy_trials) = match &record.header.remedy_trials {
        None => {
            let source = stored_source(&record)?;
            let plan = stored_plan(&record, &source.scenario)?;
            (source, plan, None)
        }
        Some(remedy_trials) => {
            let main = store.load(&remedy_trials.run)?;
            let source = stored_source(&main)?;
            let (plan, remedy_trials) = remedies::plan(&main, &source.scenario)?;
            (source, plan, Some(remedy_trials))
        }
    };
    if !same_plan(&plan, &record) {
        let message = format!(
            "run {id} was planned by plumb {}, but this is {TOOL}, which plans differently",
            record.header.tool
        );
        return Err(Misuse::new(message).hint("start a new run with `plumb run`").into());
    }
    Ok(Job { source, plan, id, remedy_trials, resume: Some(record), _claim: claim })
}

fn same_plan(plan: &Plan, record: &RunRecord) -> bool {
    let header = &record.header;
    let results = plan.results.iter().map(|result| result.id.as_str());
    let made_as_planned = |trial: &samples::Trial| {
        let planned = plan.trials.iter().find(|planned| planned.index == trial.index);
        planned.is_some_and(|planned| {
            (plan.results[planned.result].id.as_str(), planned.block) == (trial.result.as_str(), trial.block)
        })
    };
    results.eq(header.results.iter().map(|result| result.id.as_str()))
        && plan.trials.len() == header.planned as usize
        && record.trials.iter().all(made_as_planned)
}

fn latest_unfinished(args: &RunArgs, store: &Store, shared: &GlobalFlags) -> anyhow::Result<RunId> {
    let (found, of) = match &args.scenario {
        Some(name) => {
            let digest = source::load_variant(name, &args.variants, shared)?.scenario.digest;
            (store.unfinished(&digest)?, format!(" of the current version of scenario {name}"))
        }
        None => (store.runs()?, String::new()),
    };
    let unfinished = found.into_iter().find(|run| run.state == RunState::Unfinished);
    unfinished.map(|run| run.id).ok_or_else(|| {
        Misuse::new(format!("there is no unfinished run{of}"))
            .hint("`plumb runs list` shows the stored runs")
            .into()
    })
}
