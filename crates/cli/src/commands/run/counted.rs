//! Prepares the plan of a run that counts instructions instead of measuring times.

use ::scenario::{Plan, Scenario};
use samples::{Design, RunHeader};
use units::Nanos;
use workload::{Direction, Placement, Schedule, Until, WorkloadSettings};

use crate::failure::Misuse;

/// Longer than any trial, because reporting an interval would add instructions.
const WHOLE_TRIAL: Nanos = Nanos::from_secs(1 << 20);

/// The longest warm-up, and the longest measured time of a trial without a rate. With 25 ms, counts vary three
/// times as much.
const LONGEST: Nanos = Nanos::from_millis(50);
/// The default. With fewer trials, one outlier hides small changes.
pub(super) const TRIALS: u32 = 6;

/// Removes CPU pinning and the time budget, shortens trials, and makes clients and servers report only once. Fails if
/// part of the plan cannot be counted.
pub(super) fn prepare(scenario: &Scenario, plan: &mut Plan) -> Result<(), Misuse> {
    let refused = |what| {
        Err(Misuse::new(format!("cannot count instructions: {what}")).hint(
            "--count measures streams and ping-pong between namespaces; select them with --path and --workload",
        ))
    };
    for host in &scenario.lab.hosts {
        if host.vm.is_some() {
            return refused(format!("host `{}` is a virtual machine", host.name));
        }
        if host.existing.is_some() {
            return refused(format!("host `{}` is outside the lab", host.name));
        }
    }
    plan.design = Design { objective: plan.design.objective, ..Design::default() };
    plan.steps.clear();
    for result in &mut plan.results {
        if !can_count(&result.load) {
            return refused(format!(
                "workload `{}` is neither a stream in one direction nor a plain ping-pong",
                result.workload
            ));
        }
        result.placement = Placement::Free;
        match &mut result.load {
            WorkloadSettings::Stream(settings) => {
                settings.interval = WHOLE_TRIAL;
                settings.warmup = settings.warmup.min(LONGEST);
                if let (Until::Elapsed(duration), None) = (&mut settings.until, settings.rate) {
                    *duration = LONGEST.min(*duration);
                }
            }
            WorkloadSettings::PingPong(settings) => {
                settings.interval = WHOLE_TRIAL;
                settings.warmup = settings.warmup.min(LONGEST);
                settings.duration = settings.duration.min(LONGEST);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Prepares the recreated plan of a stored run, if that run counted instructions.
pub(super) fn prepare_again(header: &RunHeader, scenario: &Scenario, plan: &mut Plan) -> Result<(), Misuse> {
    let mut loads = header.results.iter().filter_map(|result| result.sent.load());
    if loads.any(is_prepared) { prepare(scenario, plan) } else { Ok(()) }
}

pub(super) fn is_counted(plan: &Plan) -> bool {
    plan.results.iter().any(|result| is_prepared(&result.load))
}

fn is_prepared(load: &WorkloadSettings) -> bool {
    match load {
        WorkloadSettings::Stream(settings) => settings.interval == WHOLE_TRIAL,
        WorkloadSettings::PingPong(settings) => settings.interval == WHOLE_TRIAL,
        _ => false,
    }
}

fn can_count(load: &WorkloadSettings) -> bool {
    match load {
        // Each direction of a bidirectional stream would be counted in a different time window.
        WorkloadSettings::Stream(settings) => settings.direction != Direction::Both,
        // The background stream's instructions would be counted, too.
        WorkloadSettings::PingPong(settings) => {
            settings.under.is_none() && settings.schedule == Schedule::Closed
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use ::scenario::{PlanOptions, builtin};

    use super::*;

    fn prepared(name: &str) -> Result<Plan, Misuse> {
        let text = builtin::all().iter().find(|known| known.name == name).expect("it is built in").text;
        let scenario = Scenario::parse(name, text).expect("a scenario");
        let mut plan = Plan::expand(&scenario, 1, &PlanOptions::default());
        prepare(&scenario, &mut plan).map(|()| plan)
    }

    /// Without five repeats of the baseline, no comparison is decided.
    #[test]
    fn repeats_the_baseline_in_each_block() {
        let plan = prepared("quick").expect("namespaces only");
        let repeats = plan.trials.iter().filter(|trial| trial.arm == samples::Arm::Again);
        assert_eq!(repeats.count(), 2 * 20, "two workloads with 20 blocks each");
    }

    #[test]
    fn counts_namespaces_on_one_cpu() {
        let plan = prepared("quick").expect("namespaces only");
        let is_short = |load: &WorkloadSettings| match load {
            WorkloadSettings::Stream(settings) => settings.until == Until::Elapsed(LONGEST),
            WorkloadSettings::PingPong(settings) => settings.duration == LONGEST,
            _ => false,
        };
        assert!(
            plan.results.iter().all(|result| result.placement == Placement::Free && is_short(&result.load))
        );
        assert!(plan.design == Design::default() && plan.steps.is_empty());
        assert_eq!(prepared("bridge-queues").expect("namespaces only").design.precision, None);
        let error = prepared("vhost").expect_err("it has guests");
        assert!(error.to_string().contains("is a virtual machine"), "{error}");
    }
}
