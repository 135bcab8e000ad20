//! `cpu-throttled`: the kernel paused the client or the server because the CPU quota of a cgroup was used up.

use samples::CpuThrottling;

use super::{ONE, Observations, prelude::*};

pub(crate) const RULE: Rule = Rule::cause("cpu-throttled", look).counted().over(&[
    "slow-congestion-control",
    "generator-limited",
    "receiver-limited",
    "buffer-limited",
    "cwnd-limited",
    "retransmits",
    "stalled",
    "tail-latency",
    "trend",
    "level-shift",
    "workload-limit",
]);

/// Minimum fraction of the periods in which the quota was used up. A single such period may be due to chance.
const WORTH_A_WARNING: f64 = 0.02;
const SERIOUS: f64 = 0.2;

struct Slowed<'a> {
    result: &'a ResultSummary,
    throttling: CpuThrottling,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let most = |measured: &Observations<'_>| {
        let all = measured.trials().flat_map(|trial| &trial.cpu.throttled);
        let most = all.largest(|one| share(one));
        most.filter(|most| share(most) >= WORTH_A_WARNING).cloned()
    };
    let slowed = |(result, measured)| Some(Slowed { result, throttling: most(measured)? });
    let found = context.results().filter_map(slowed).collect();
    strongest(found, |it: &Slowed<'_>| share(&it.throttling), finding)
}

fn finding(worst: &Slowed<'_>, found: &[Slowed<'_>]) -> Claim {
    claim(&worst.throttling)
        .further(phrase!["Counted in the worst trial of ", worst.result, "."])
        .about(found, |slowed| slowed.result)
        .affected()
        .with_evidence(found.iter().map(|slowed| evidence(&slowed.throttling, &slowed.result.label)))
}

pub(crate) fn of_one(throttling: &CpuThrottling) -> Option<Claim> {
    let claim = || claim(throttling).with_evidence([evidence(throttling, ONE)]);
    (share(throttling) >= WORTH_A_WARNING).then(claim)
}

fn share(throttling: &CpuThrottling) -> f64 {
    throttling.throttled as f64 / throttling.periods.max(1) as f64
}

fn claim(throttling: &CpuThrottling) -> Claim {
    let CpuThrottling { end, group, limit, periods, throttled, .. } = throttling;
    let severity = Severity::serious_if(share(throttling) >= SERIOUS);
    let allows =
        limit.map_or_else(String::new, |limit| format!(" of {} CPUs", (limit * 100.0).round() / 100.0));
    Claim::new(severity, format!("The {end} used up its CPU quota in {throttled} of {periods} periods"))
        .detail(format!("the quota{allows} is that of the cgroup {group}"))
        .with_limits(["Other processes in the cgroup use the same quota."])
        .with_remedy(
            Remedy::manual(
                "Raise the CPU limit of the container, pod or service, or remove it",
                vec![format!("cat {group}/cpu.stat  # nr_throttled")],
            )
            .explained(
                "In Kubernetes it is `resources.limits.cpu`, with Docker `--cpus`, in systemd `CPUQuota`.",
            ),
        )
}

fn evidence(throttling: &CpuThrottling, label: &str) -> Evidence {
    Evidence::new(format!("periods in which the {} was stopped, {label}", throttling.end))
        .count(throttling.throttled)
        .text(" of ")
        .count(throttling.periods)
        .text(format!(", {} in total", throttling.time))
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, watched};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || watched::throttled(69),
        spares: || watched::throttled(1),
        severity: Severity::Serious,
        says: &["The client used up its CPU quota in 69 of 79 periods", "0.2 CPUs", "cpu.stat"],
        change: None,
    };
}
