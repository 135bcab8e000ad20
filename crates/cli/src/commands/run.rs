//! `plumb run`: measure a scenario and report.

use std::path::PathBuf;

use ::scenario::{PathName, Plan, PlanOptions, Scenario, WorkloadName};
use anyhow::Context;
use clap::Args;
use jiff::Timestamp;
use lab::{Request, Stop};
use machine::Rights;
use samples::{RunId, RunRecord, RunState, Skipped};
use store::{Claim, Store, StoreError};

use crate::{
    commands::{PROGRAM, TOOL, report},
    exit::Exit,
    failure::{Misuse, NoRights},
    interrupt, kept,
    progress::Progress,
    say,
    shared::Shared,
    source::{self, Source},
};

/// Flags of `plumb run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// A built-in scenario's name, or a scenario file
    #[arg(required_unless_present = "resume")]
    scenario: Option<String>,
    /// Go on with a run that did not end [default: the latest unfinished one of SCENARIO, or of all]
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "")]
    resume: Option<String>,
    /// Trials of each cell, instead of the scenario's
    #[arg(long, value_name = "N", conflicts_with = "resume", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    trials: Option<u32>,
    /// Seed of the order of trials [default: the scenario's, or one from the clock]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    seed: Option<u64>,
    /// Measure only this path, beside the baseline (may be repeated)
    #[arg(long = "path", value_name = "PATH", conflicts_with = "resume")]
    paths: Vec<String>,
    /// Measure only this workload (may be repeated)
    #[arg(long = "workload", value_name = "WORKLOAD", conflicts_with = "resume")]
    workloads: Vec<String>,
    /// Show the plan and what it would take, and measure nothing
    #[arg(long, conflicts_with = "resume")]
    dry_run: bool,
    /// Write the report to this file as well; its ending chooses the format: .md, .json, .csv
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the run's name and no report
    #[arg(long, short)]
    quiet: bool,
}

/// What is to be measured, whether new or resumed.
struct Job {
    source: Source,
    plan: Plan,
    id: RunId,
    resume: Option<RunRecord>,
    /// Keeps other processes from making the same run.
    _claim: Claim,
}

/// Runs it.
pub(crate) fn run(args: &RunArgs, shared: &Shared) -> anyhow::Result<Exit> {
    let output = args.output.as_deref().map(report::Destination::parse).transpose()?;
    // Mistakes in what was asked come first: showing them takes no rights.
    let new = if args.resume.is_none() { Some(planned(args)?) } else { None };
    if let Some((source, plan)) = new.as_ref().filter(|_| args.dry_run) {
        super::scenario::print_plan(&source.scenario, plan)?;
        return Ok(Exit::Success);
    }
    // Before anything starts a thread: a user namespace can only be entered by a process with one.
    let rights = Rights::acquire().context(NoRights)?;
    let mut store = kept::open(shared.db.as_deref())?;
    let job = match new {
        Some((source, plan)) => fresh(source, plan, &store)?,
        None => resumed(args, args.resume.as_deref().unwrap_or_default(), &store)?,
    };
    let stop = Stop::new();
    interrupt::asks(&stop.flag())?;
    let skipped = measure(&job, rights, &mut store, &stop)?;
    finish(args, &job, &store, &skipped, output.as_ref())
}

fn measure(job: &Job, rights: Rights, store: &mut Store, stop: &Stop) -> anyhow::Result<Vec<Skipped>> {
    let there = job.resume.as_ref().map_or(0, |record| record.trials.len());
    let mut progress = Progress::new(job.plan.trials.len(), there, job.plan.duration_estimate());
    if rights == Rights::UserNamespace {
        progress
            .notice("not root: the lab lives in a user namespace; `plumb doctor` says what is missing there");
    }
    let request = Request {
        scenario: &job.source.scenario,
        text: &job.source.text,
        plan: &job.plan,
        id: job.id.clone(),
        resume: job.resume.as_ref(),
        agent: PROGRAM.into(),
        tool: TOOL,
    };
    let outcome = lab::run(&request, store, &mut |event: &lab::Event<'_>| progress.event(event), stop);
    progress.end();
    Ok(outcome?.skipped)
}

fn finish(
    args: &RunArgs,
    job: &Job,
    store: &Store,
    skipped: &[Skipped],
    output: Option<&report::Destination>,
) -> anyhow::Result<Exit> {
    let record = store.load(&job.id)?;
    let findings = analysis::analyse(&record);
    if args.quiet {
        say::line(&job.id)?;
    } else {
        say::text(report::for_terminal(&findings, &record)?)?;
    }
    if let Some(destination) = output {
        destination.write(&findings, &record)?;
        say::aside(format_args!("report written to {}", destination.path().display()));
    }
    let nothing = record.trials.is_empty() && !skipped.is_empty();
    Ok(if nothing { Exit::Unable } else { Exit::Success })
}

fn planned(args: &RunArgs) -> anyhow::Result<(Source, Plan)> {
    let source = source::load(args.scenario.as_deref().unwrap_or_default())?;
    let plan = plan(args, &source.scenario)?;
    Ok((source, plan))
}

fn fresh(source: Source, plan: Plan, store: &Store) -> anyhow::Result<Job> {
    let stamp = Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let (id, claim) = free_id(&format!("{}-{stamp}", source.scenario.name), store)?;
    Ok(Job { source, plan, id, resume: None, _claim: claim })
}

/// `wanted`, or with a number behind it when another run of the same second has it already.
fn free_id(wanted: &str, store: &Store) -> anyhow::Result<(RunId, Claim)> {
    let mut id = RunId(wanted.to_owned());
    for number in 2.. {
        // Claimed before it is looked for: a run that begins just now is not in the store yet.
        let claim = store.claim(&id);
        let known = store.runs()?.iter().any(|run| run.id == id);
        match claim {
            Ok(claim) if !known => return Ok((id, claim)),
            Ok(_) | Err(StoreError::UnderWay { .. }) => id = RunId(format!("{wanted}-{number}")),
            Err(error) => return Err(error.into()),
        }
    }
    unreachable!("there are more numbers than runs")
}

fn plan(args: &RunArgs, scenario: &Scenario) -> anyhow::Result<Plan> {
    let options = PlanOptions {
        trials: args.trials,
        paths: args.paths.iter().map(PathName::new).collect(),
        workloads: args.workloads.iter().map(WorkloadName::new).collect(),
    };
    for path in &options.paths {
        let known: Vec<&str> = scenario.paths.iter().map(|path| path.name.as_str()).collect();
        known_or_misuse("path", path.as_str(), &known)?;
    }
    for workload in &options.workloads {
        let known: Vec<&str> = scenario.workloads.iter().map(|workload| workload.name.as_str()).collect();
        known_or_misuse("workload", workload.as_str(), &known)?;
    }
    let seed = args.seed.or(scenario.schedule.seed).unwrap_or_else(seed_from_clock);
    Ok(Plan::expand(scenario, seed, &options))
}

fn known_or_misuse(what: &str, name: &str, known: &[&str]) -> anyhow::Result<()> {
    if known.contains(&name) {
        return Ok(());
    }
    let message = format!("the scenario has no {what} `{name}`");
    Err(Misuse::new(message).hint(format!("it has {}", known.join(", "))).into())
}

/// Short enough to be typed again.
fn seed_from_clock() -> u64 {
    Timestamp::now().as_nanosecond().unsigned_abs() as u64 % 1_000_000
}

/// The job of a kept run: the plan is made anew from the kept scenario, and must be the same.
fn resumed(args: &RunArgs, which: &str, store: &Store) -> anyhow::Result<Job> {
    let id = if which.is_empty() { latest_unfinished(args, store)? } else { store.resolve(which)? };
    let claim = store.claim(&id)?;
    let record = store.load(&id)?;
    if record.header.state == RunState::Complete {
        let message =
            format!("run {id} is complete: all {} trials were made or skipped", record.header.planned);
        return Err(Misuse::new(message).hint(format!("`plumb report {id}` shows it")).into());
    }
    let text = record.header.scenario.text.clone();
    let scenario = Scenario::parse(&format!("the scenario kept with run {id}"), &text)?;
    let plan = Plan::expand(&scenario, record.header.seed, &options_of(&record));
    if !same_plan(&plan, &record) {
        let message = format!(
            "run {id} was planned by plumb {}, and this is {TOOL}: the plans differ",
            record.header.tool
        );
        return Err(Misuse::new(message).hint("begin it anew with `plumb run`").into());
    }
    Ok(Job { source: Source { scenario, text }, plan, id, resume: Some(record), _claim: claim })
}

/// Whether the plan made anew is the one that the kept trials were made by, their order included.
fn same_plan(plan: &Plan, record: &RunRecord) -> bool {
    let header = &record.header;
    let cells = plan.cells.iter().map(|cell| cell.id.as_str());
    let made_as_planned = |trial: &samples::Trial| {
        let planned = plan.trials.iter().find(|planned| planned.index == trial.index);
        planned.is_some_and(|planned| {
            (plan.cells[planned.cell].id.as_str(), planned.block) == (trial.cell.as_str(), trial.block)
        })
    };
    cells.eq(header.cells.iter().map(|cell| cell.id.as_str()))
        && plan.trials.len() == header.planned as usize
        && record.trials.iter().all(made_as_planned)
}

/// What was planned, as it can be read off the kept header.
fn options_of(record: &RunRecord) -> PlanOptions {
    let header = &record.header;
    let mut workloads: Vec<WorkloadName> = Vec::new();
    for cell in &header.cells {
        let name = WorkloadName::new(&cell.workload);
        if !workloads.contains(&name) {
            workloads.push(name);
        }
    }
    PlanOptions {
        trials: Some(header.blocks),
        paths: header.paths.iter().map(|path| PathName::new(&path.name)).collect(),
        workloads,
    }
}

fn latest_unfinished(args: &RunArgs, store: &Store) -> anyhow::Result<RunId> {
    let (found, of) = match &args.scenario {
        Some(name) => {
            let digest = source::load(name)?.scenario.digest;
            (store.unfinished(&digest)?, format!(" of scenario {name} as it is now"))
        }
        None => (store.runs()?, String::new()),
    };
    let unfinished = found.into_iter().find(|run| run.state == RunState::Unfinished);
    unfinished.map(|run| run.id).ok_or_else(|| {
        Misuse::new(format!("there is no unfinished run{of}"))
            .hint("`plumb runs list` shows what is kept")
            .into()
    })
}
