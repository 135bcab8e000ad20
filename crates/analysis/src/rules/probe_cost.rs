//! `probe-cost`: probes slow down the measured work so much that their times are less meaningful.

use findings::{Number, ProbeCost};
use stats::verdict;

use super::prelude::*;

pub(crate) const RULE: Rule = Rule::measurement("probe-cost", look);

const MUCH: f64 = 0.05;

fn look(context: &Context<'_>) -> Vec<Claim> {
    let costs = &context.findings.probes.costs;
    let dear: Vec<&ProbeCost> = costs.iter().filter(|cost| cost.cost >= MUCH && !is_noise(cost)).collect();
    strongest(dear, |it| it.cost, |worst, all| finding(worst, all, context))
}

fn is_noise(cost: &ProbeCost) -> bool {
    cost.interval.is_some_and(|interval| interval.low <= 0.0)
}

fn is_sure(cost: &ProbeCost) -> bool {
    cost.interval.is_some_and(|interval| interval.low >= MUCH && verdict::is_sure(interval.confidence))
}

fn finding(worst: &ProbeCost, dear: &[&ProbeCost], context: &Context<'_>) -> Claim {
    let probes: Vec<&str> = context.findings.probes.used.iter().map(|probe| probe.word()).collect();
    let of = |result: &&findings::ResultSummary| {
        result.probed.is_some() && dear.iter().any(|cost| cost.workload == result.workload)
    };
    let mut limitations = vec![
        "Counts of calls, messages and packets are valid whatever the probes cost; times and CPU shares are \
              those of the slower, probed trial. Results never come from probed trials.",
    ];
    limitations.extend((!is_sure(worst)).then_some(
        "The cost may be below 5 %, because its interval extends below 5 % or too few blocks have both trials.",
    ));
    Claim::new(
        Severity::warning_if(is_sure(worst)),
        phrase!["Probes cost ", percent(worst.cost), format!(" in {}", worst.workload)],
    )
    .detail("the times and CPU shares they report are those of the slower trials")
    .further(format!("Probes used: {}.", list(&probes)))
    .with_results(context.findings.results.iter().filter(of).map(|result| result.id.clone()))
    .with_evidence(dear.iter().map(|cost| evidence(cost)))
    .with_limits(limitations)
    .with_remedy(
        Remedy::manual(
            "Use one probe at a time, and follow fewer messages",
            context.commands().again("--probe cpu", ""),
        )
        .explained("System-call counts stay valid; times do not."),
    )
}

fn evidence(cost: &ProbeCost) -> Evidence {
    Evidence::new(format!(
        "{} with vs without probes, {} in blocks",
        cost.workload,
        count(cost.pairs as usize, "pair")
    ))
    .number(Number { interval: cost.interval, ..Number::new(cost.cost, Unit::Share) })
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, watched};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || watched::slowed(0.08, 0.01),
        spares: || watched::slowed(0.04, 0.01),
        severity: Severity::Warning,
        says: &["cpu, syscalls and packet-way", "Probes cost 8.01 % in bulk", "6 pairs in blocks", "97 %"],
        change: None,
    };
}
