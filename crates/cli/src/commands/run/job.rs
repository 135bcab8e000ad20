//! Turns the flags of a new run into a plan and a unique name.

use ::scenario::{BUDGETS, LEAST_PRECISE, PRECISIONS, PathName, Plan, PlanOptions, Scenario, WorkloadName};
use jiff::Timestamp;
use samples::{RemedyTrials, RunId, RunRecord};
use store::{Claim, Store};
use units::{Nanos, Share};

use super::{RunArgs, counted};
use crate::{
    failure::Misuse,
    global_flags::GlobalFlags,
    source::{self, Source},
};

pub(super) struct Job {
    pub(super) source: Source,
    pub(super) plan: Plan,
    pub(super) id: RunId,
    pub(super) remedy_trials: Option<RemedyTrials>,
    pub(super) resume: Option<RunRecord>,
    /// The claim prevents other processes from continuing this run.
    pub(super) _claim: Claim,
}

pub(in crate::commands) fn planned(args: &RunArgs, shared: &GlobalFlags) -> anyhow::Result<(Source, Plan)> {
    let source = source::load_variant(args.scenario.as_deref().unwrap_or_default(), &args.variants, shared)?;
    let plan = plan(args, &source.scenario)?;
    Ok((source, plan))
}

pub(super) fn fresh(source: Source, plan: Plan, store: &Store) -> anyhow::Result<Job> {
    let stamp = Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let (id, claim) = store.claim_new(&format!("{}-{stamp}", source.scenario.name))?;
    Ok(Job { source, plan, id, remedy_trials: None, resume: None, _claim: claim })
}

pub(super) fn plan(args: &RunArgs, scenario: &Scenario) -> anyhow::Result<Plan> {
    let options = PlanOptions {
        trials: args.trials.or(args.count.then_some(counted::TRIALS)),
        paths: args.paths.iter().map(PathName::new).collect(),
        workloads: args.workloads.iter().map(WorkloadName::new).collect(),
        budget: args.budget,
        precision: args.precision,
        objective: args.objective,
        stored: None,
        probes: if args.count { Some(Vec::new()) } else { args.probe.clone().map(|probes| probes.0) },
        results: args.results.clone(),
    };
    for path in &options.paths {
        let known: Vec<&str> = scenario.paths.iter().map(|path| path.name.as_str()).collect();
        known_or_misuse("path", path.as_str(), &known)?;
    }
    for workload in &options.workloads {
        let known: Vec<&str> = scenario.workloads.iter().map(|workload| workload.name.as_str()).collect();
        known_or_misuse("workload", workload.as_str(), &known)?;
    }
    refuse_too_large(&options, scenario)?;
    let seed = args.seed.or(scenario.schedule.seed).unwrap_or_else(seed_from_clock);
    let mut plan = Plan::expand(scenario, seed, &options);
    if args.count {
        counted::prepare(scenario, &mut plan)?;
    }
    enough_trials(args)?;
    enough_time(&plan)?;
    Ok(plan)
}

pub(super) fn refuse_too_large(options: &PlanOptions, scenario: &Scenario) -> anyhow::Result<()> {
    options.check_size(scenario).map_err(|error| {
        Misuse::new(error.to_string())
            .hint("use fewer --trials, or select results with --path and --workload")
            .into()
    })
}

/// Fails if the budget is too short for one trial of every result. A recommendation from an arbitrary subset would be
/// useless.
fn enough_time(plan: &Plan) -> anyhow::Result<()> {
    let (Some(forecast), Some(budget)) = (lab::forecast(plan), plan.design.budget) else { return Ok(()) };
    if !forecast.is_too_short() {
        return Ok(());
    }
    let results = plan.results.len();
    let message = format!("a budget of {budget} is too short to measure each of {results} results once");
    let least = forecast.pass.seconds().ceil();
    let hint = format!(
        "use at least {least:.0}s, e.g. `--budget {least:.0}s`, or fewer results with --path and --workload"
    );
    Err(Misuse::new(message).hint(hint).into())
}

fn enough_trials(args: &RunArgs) -> anyhow::Result<()> {
    let Some(trials) = args.trials.filter(|trials| args.precision.is_some() && *trials < LEAST_PRECISE)
    else {
        return Ok(());
    };
    let message = format!("--precision needs more than {trials} trials per result");
    Err(Misuse::new(message)
        .hint(format!("use at least {LEAST_PRECISE} trials, or remove --precision"))
        .into())
}

pub(super) fn budget(text: &str) -> Result<Nanos, String> {
    let budget: Nanos = text.parse().map_err(|error: units::ParseQuantityError| error.to_string())?;
    let fits = BUDGETS.contains(&budget);
    if fits { Ok(budget) } else { Err("use 1s to a week, e.g. 10m".to_owned()) }
}

pub(super) fn precision(text: &str) -> Result<f64, String> {
    let Share(share) = text.parse().map_err(|error: units::ParseQuantityError| error.to_string())?;
    let fits = PRECISIONS.contains(&share);
    if fits { Ok(share) } else { Err("use 0.1% to 50%, e.g. 2%".to_owned()) }
}

fn known_or_misuse(what: &str, name: &str, known: &[&str]) -> anyhow::Result<()> {
    if known.contains(&name) {
        return Ok(());
    }
    let message = format!("the scenario has no {what} `{name}`");
    Err(Misuse::new(message).hint(format!("available: {}", known.join(", "))).into())
}

/// Returns a short seed, because users may have to type it.
fn seed_from_clock() -> u64 {
    Timestamp::now().as_nanosecond().unsigned_abs() as u64 % 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::scenario::builtin;

    #[test]
    fn refuses_too_small_budget_with_minimum() {
        let text =
            builtin::all().iter().find(|known| known.name == "bridge-queues").expect("it is built in").text;
        let scenario = Scenario::parse("bridge-queues", text).expect("a scenario");
        let check = |seconds: u64| {
            let budget = Some(Nanos::from_secs(seconds));
            enough_time(&Plan::expand(&scenario, 1, &PlanOptions { budget, ..PlanOptions::default() }))
        };
        let error = check(1).expect_err("ten trials of a second");
        assert!(
            error.to_string().contains("a budget of 1.00 s is too short to measure each of 9 results once"),
            "{error}"
        );
        let misuse = error.downcast_ref::<Misuse>().expect("a misuse");
        assert!(format!("{misuse:?}").contains("use at least 14s"), "{misuse:?}");
        assert!(check(13).is_err() && check(14).is_ok());
    }

    #[test]
    fn parses_and_limits_budgets_and_precisions() {
        for (text, read) in
            [("10m", Some(Nanos::from_secs(600))), ("10", None), ("1ms", None), ("900d", None)]
        {
            assert_eq!(budget(text).ok(), read, "{text}");
        }
        for (text, read) in [("2%", Some(0.02)), ("2", None), ("90%", None), ("0%", None)] {
            assert_eq!(precision(text).ok(), read, "{text}");
        }
    }
}
