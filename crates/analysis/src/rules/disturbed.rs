//! `disturbed`: other processes or the hypervisor used the CPUs during trials that the numbers are based on.

use samples::Trial;

use super::prelude::*;
use crate::disturbance::{self, by};

pub(crate) const RULE: Rule = Rule::measurement("disturbed", look).over(&[
    "noisy-host",
    "too-noisy-to-say",
    "bimodal",
    "level-shift",
    "trend",
    "unsteady",
    "warm-up-too-short",
]);

/// Makes one finding per run. Does not count discarded attempts and excluded trials, because no number is based on
/// them.
fn look(context: &Context<'_>) -> Vec<Claim> {
    let disturbed: Vec<&Trial> = context
        .measured
        .iter()
        .flat_map(|result| result.trials())
        .filter(|trial| trial.is_disturbed())
        .collect();
    let all = context.measured.iter().flat_map(|result| result.trials()).count();
    if disturbed.is_empty() { Vec::new() } else { vec![finding(context, &disturbed, all)] }
}

fn finding(context: &Context<'_>, disturbed: &[&Trial], all: usize) -> Claim {
    let of = |id: &str| disturbed.iter().filter(|trial| trial.result == id).count();
    let results = || context.results().filter(|(result, _)| of(&result.id) > 0);
    let serious = results().any(|(_, trials)| disturbance::is_mostly_disturbed(trials));
    let trials = by_workload(context, disturbed)
        .unwrap_or_else(|| phrase![disturbed.len().to_string(), " of ", count(all, "trial")]);
    Claim::new(
        Severity::serious_if(serious),
        phrase!["The machine was busy with other work in ", trials],
    )
    .detail(by(disturbed.iter().flat_map(|trial| &trial.warnings)))
    .further("These numbers are for a shared machine.")
    .with_results(results().map(|(result, _)| result.id.clone()))
    .with_evidence(results().map(|(result, trials)| {
        Evidence::new(format!("Disturbed, {}", result.label))
            .count(of(&result.id) as u64)
            .text(format!(" of {}", count(trials.points.len(), "trial")))
    }))
    .with_limits([
        "If both ends may run on any CPU, other work is ignored as long as it leaves twice as many CPUs as the \
             path uses.",
    ])
    .with_remedy(
        Remedy::manual("Measure again when the machine is idle", Vec::new())
            .explained("Stop the other work, or pin the ends to dedicated CPUs."),
    )
}

/// For example, `25 of 25 trials of throughput and 0 of 25 of latency`, if the workloads differ.
fn by_workload(context: &Context<'_>, disturbed: &[&Trial]) -> Option<Phrase> {
    let mut counts: Vec<(&str, usize, usize)> = Vec::new();
    for (result, measured) in context.results() {
        let hit = disturbed.iter().filter(|trial| trial.result == result.id).count();
        let all = measured.trials().count();
        match counts.iter_mut().find(|(workload, ..)| *workload == result.workload) {
            Some(known) => *known = (known.0, known.1 + hit, known.2 + all),
            None => counts.push((&result.workload, hit, all)),
        }
    }
    match counts[..] {
        [(one, of_one, all_of_one), (other, of_other, all_of_other)] => Some(phrase![
            format!("{of_one} of "),
            count(all_of_one, "trial"),
            format!(" of {one} and {of_other} of {all_of_other} of {other}"),
        ]),
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::disturbed(|block| block < 4),
        // Enough undisturbed trials remain.
        spares: || made::disturbed(|block| block < 1),
        severity: Severity::Serious,
        says: &["busy with other work in 4 of 6 trials", "`cc1` used up to 1.20 CPUs"],
        change: None,
    };
}
