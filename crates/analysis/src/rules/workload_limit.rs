//! `workload-limit`: a running workload has a CPU limit, which the measurement may exceed.

use samples::{PathRecord, WorkloadLimit};

use super::prelude::*;
use crate::cpu;

pub(crate) const RULE: Rule = Rule::cause("workload-limit", look);

fn look(context: &Context<'_>) -> Vec<Claim> {
    let claims = context.header.workload_limits.iter().map(|limit| claim(limit, context));
    let (exceeded, others): (Vec<Claim>, Vec<Claim>) =
        claims.partition(|claim| claim.severity == Severity::Warning);
    exceeded.into_iter().chain(others).collect()
}

fn claim(limit: &WorkloadLimit, context: &Context<'_>) -> Claim {
    let used: Vec<(&ResultSummary, f64)> =
        context.results().filter_map(|(result, it)| Some((result, least_used(limit, it)?))).collect();
    let exceeded: Vec<&(&ResultSummary, f64)> =
        used.iter().filter(|(_, cpus)| !limit.shared && *cpus > limit.cpus).collect();
    let most = cpus(used.iter().map(|(_, used)| *used).fold(0.0, f64::max));
    let (severity, detail) = match (limit.shared, exceeded.is_empty()) {
        (true, _) => (Severity::Note, "the measurement shared this limit".into()),
        (false, true) => (
            Severity::Note,
            "the measurement ran outside this limit, so the workload itself may be slower".into(),
        ),
        (false, false) => (
            Severity::Warning,
            phrase![
                "the measurement used ",
                most,
                " at this end, so the workload may not reach the measured speed",
            ],
        ),
    };
    Claim::new(severity, phrase![format!("{} may use ", limit.endpoint), cpus(limit.cpus)])
        .detail(detail)
        .factual()
        .with_results(exceeded.iter().map(|(result, _)| result.id.clone()))
        .with_evidence([Evidence::new("CPU limit").text(&limit.source)])
        .with_evidence(used.iter().map(|(result, used)| {
            Evidence::new(format!("used in every trial of {}", result.label)).text(cpus(*used))
        }))
        .with_limits(["The kernel processes packets in soft interrupts, which are not subject to the limit."])
        .with_remedy(Remedy::manual(
            "If the workload is throttled, raise its CPU limit",
            statistics(&limit.source).into_iter().collect(),
        ))
}

/// Returns the lowest number of CPUs that the traffic threads at the workload's end used in any trial.
fn least_used(limit: &WorkloadLimit, result: &Observations<'_>) -> Option<f64> {
    let end = end(limit, result.path?)?;
    result.trials().map(|trial| cpu::threads(&trial.cpu, end)).reduce(f64::min)
}

fn end(limit: &WorkloadLimit, path: &PathRecord) -> Option<&'static str> {
    let is_at = |end: &str| end.split(':').next() == Some(&limit.host);
    [("client", &path.from), ("server", &path.to)]
        .into_iter()
        .find(|(_, end)| is_at(end))
        .map(|(name, _)| name)
}

fn cpus(number: f64) -> Phrase {
    let shown = (number * 100.0).round() / 100.0;
    let plural = if shown == 1.0 { "" } else { "s" };
    Phrase::quantity(format!("{shown} CPU{plural}"), number, Unit::Cpus)
}

/// Returns a command that shows the throttling. The file `source` is in the cgroup's directory.
fn statistics(source: &str) -> Option<String> {
    let (directory, _) = source.rsplit_once('/')?;
    Some(format!("cat {directory}/cpu.stat"))
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::limited_to(0.25),
        spares: || made::nested(9e9),
        severity: Severity::Warning,
        says: &[
            "container:web may use 0.25 CPUs",
            "used 0.5 CPUs at this end",
            "cat /sys/fs/cgroup/web/cpu.stat",
        ],
        change: None,
    };
}
