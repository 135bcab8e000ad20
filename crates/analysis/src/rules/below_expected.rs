//! `below-expected`: the baseline itself is too slow, which makes everything compared with it look too good.

use findings::{CostBreakdown, CostStep, Interval};
use units::{BitRate, Nanos};
use workload::{PingPongSettings, Quantity, Schedule, Waiting};

use super::{
    prelude::*,
    significance::{self, Side},
};
use crate::{commands::Commands, words::number};

pub(crate) const RULE: Rule = Rule::symptom("below-expected", look);

/// Minimum fraction of the requested rate that should arrive.
const OF_ASKED: f64 = 0.95;
/// Minimum fraction of a link's rate that should arrive as payload. TCP over Ethernet with an MTU of 1500 reaches at
/// most 0.94.
const OF_LINK: f64 = 0.9;
const LINKS: [&str; 6] = ["link", "link-rate", "link-speed", "nic", "wire", "wire-rate"];
/// Maximum round trip, as a multiple of the cost of a wake-up and two system calls per end.
const TIMES_THE_FLOOR: f64 = 4.0;

struct Short {
    result: String,
    claim: Phrase,
    evidence: Evidence,
    sure: bool,
    limitation: Option<&'static str>,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let baselines = context.results().filter(|(result, _)| result.baseline);
    let mut found: Vec<Short> = baselines
        .flat_map(|(result, measured)| {
            [of_asked(result, measured), of_link(result), of_floor(result, measured, context)]
        })
        .flatten()
        .collect();
    found.extend(context.findings.cost_breakdowns.iter().flat_map(|breakdown| outdone(breakdown, context)));
    found.sort_by_key(|short| std::cmp::Reverse(short.sure));
    found.first().map(|worst| finding(worst, &found, &context.commands())).into_iter().collect()
}

fn of_asked(result: &ResultSummary, measured: &Observations<'_>) -> Option<Short> {
    let load = measured.asked()?;
    let asked = BitRate(load.rate?.0 * f64::from(load.connections()));
    short_of(result, asked, OF_ASKED, "requested", "requested rate")
}

fn of_link(result: &ResultSummary) -> Option<Short> {
    let (factor, level) =
        result.levels.iter().find(|(factor, _)| LINKS.contains(&factor.to_lowercase().as_str()))?;
    let link: BitRate = level.parse().ok()?;
    short_of(result, link, OF_LINK, "on the link", &format!("{factor} of the link"))
}

fn short_of(result: &ResultSummary, wanted: BitRate, share: f64, has: &str, what: &str) -> Option<Short> {
    let least = wanted.0 * share;
    let below = result.metric.quantity() == Quantity::BitRate && result.value.estimate < least;
    let sure = result
        .value
        .interval
        .is_some_and(|Interval { high, confidence, .. }| high < least && confidence >= 0.9);
    below.then(|| Short {
        result: result.id.clone(),
        claim: phrase![
            result,
            " carries ",
            value(result.metric, result.value.estimate),
            " of ",
            wanted,
            format!(" {has}"),
        ],
        evidence: Evidence::new(format!("{what}, {}", result.label))
            .text(format!("{wanted}; "))
            .metric(result.metric, result.value.estimate)
            .text(" arrived"),
        sure,
        limitation: (!sure).then_some(
            "The baseline's interval includes the expected rate, or there are too few trials for an interval.",
        ),
    })
}

fn of_floor(result: &ResultSummary, measured: &Observations<'_>, context: &Context<'_>) -> Option<Short> {
    let load = measured.record.sent.load().and_then(PingPongSettings::of)?;
    let engine = context.findings.run.environment.as_ref()?.engine?;
    let blocks = load.waiting == Waiting::Block && load.under.is_none() && load.schedule == Schedule::Closed;
    let floor = 2.0 * engine.wake_ns + 4.0 * engine.syscall_ns;
    (blocks && floor > 0.0 && result.value.estimate > TIMES_THE_FLOOR * floor).then(|| Short {
        result: result.id.clone(),
        claim: phrase![
            "a round trip of ",
            result,
            " takes ",
            value(result.metric, result.value.estimate),
            ", ",
            number(result.value.estimate / floor, 2, Unit::Ratio, " times"),
            " the cost of two wake-ups and four system calls",
        ],
        evidence: Evidence::new("two wake-ups and four system calls on this machine")
            .time(Nanos(floor.round() as u64)),
        sure: false,
        limitation: Some("A physical link, a bridge or a slow device adds time that this sum leaves out."),
    })
}

fn outdone(breakdown: &CostBreakdown, context: &Context<'_>) -> Vec<Short> {
    let is_baseline = |step: &&CostStep| {
        context.findings.run.paths.iter().any(|path| path.baseline && path.name == step.path)
    };
    let Some(lowest) = breakdown.steps.first().filter(is_baseline) else { return Vec::new() };
    let better = if breakdown.metric.more_is_better() == Some(true) { Side::Higher } else { Side::Lower };
    let label = |id: &str| context.measured_of(id).map(Phrase::from).unwrap_or_default();
    let short = |step: &CostStep| {
        let cost = step.cost.as_ref().filter(|_| step.below.as_ref() == Some(&lowest.path))?;
        let weighed = significance::weigh(cost).filter(|weighed| weighed.side == better)?;
        let layers = count(step.adds.len(), "layer");
        Some(Short {
            result: lowest.result.clone(),
            claim: phrase![
                label(&step.result),
                " has ",
                layers,
                " more than ",
                label(&lowest.result),
                " but performs better (",
                cost,
                ")",
            ],
            evidence: Evidence::new(format!("{} against {}", label(&step.result), label(&lowest.result)))
                .ratio(cost),
            sure: weighed.sure,
            limitation: Some("The path with more layers may also differ in hosts, CPUs or placement."),
        })
    };
    breakdown.steps.iter().filter_map(short).collect()
}

fn finding(worst: &Short, found: &[Short], commands: &Commands<'_>) -> Claim {
    let mut results: Vec<String> = found.iter().map(|short| short.result.clone()).collect();
    results.dedup();
    let (severity, lead, further) = if worst.sure {
        (
            Severity::Warning,
            "The baseline is too slow",
            "Everything compared with it looks better than it is.",
        )
    } else {
        (
            Severity::Note,
            "The baseline may be too slow",
            "If it is, everything compared with it looks better than it is.",
        )
    };
    Claim::new(severity, lead)
        .detail(worst.claim.clone())
        .further(further)
        .with_results(results)
        .with_evidence(found.iter().map(|short| short.evidence.clone()))
        .with_limits(worst.limitation)
        .with_remedy(
            Remedy::manual(
                "Fix the baseline first, then measure the layers again",
                commands.probed("--mode limit"),
            )
            .explained(
                "Check its own findings: a busy sender or receiver, retransmits, offloads, \
             placement.",
            ),
        )
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::asked(9e9),
        spares: || made::asked(9.8e9),
        severity: Severity::Warning,
        says: &["carries 9.00 Gbit/s of 10.0 Gbit/s requested"],
        change: None,
    };
}
