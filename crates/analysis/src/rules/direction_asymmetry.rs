//! `direction-asymmetry`: one direction carries less than the other.

use findings::Number;

use super::{
    direction_pairs::{self, DirectionPair},
    prelude::*,
    significance::{self, LEAST_RATIO},
};
use crate::words::capital;

pub(crate) const RULE: Rule = Rule::symptom("direction-asymmetry", look);

const MUCH: f64 = 0.5;

fn look(context: &Context<'_>) -> Vec<Claim> {
    let all = direction_pairs::ways(context);
    let looked = all.len();
    let mut found: Vec<DirectionPair<'_>> =
        all.into_iter().filter(|ways| ways.keeps <= LEAST_RATIO.recip()).collect();
    // Sort significant differences before larger ones that may be due to chance.
    found.sort_by(|one, other| other.sure.cmp(&one.sure).then(one.keeps.total_cmp(&other.keeps)));
    found.first().map(|worst| finding(worst, &found, looked, context)).into_iter().collect()
}

fn finding(
    worst: &DirectionPair<'_>,
    found: &[DirectionPair<'_>],
    looked: usize,
    context: &Context<'_>,
) -> Claim {
    let metric = worst.slower.metric;
    let others = match found.len() - 1 {
        0 => String::new(),
        1 => "One more pair of directions differs.".into(),
        more => format!("{more} more pairs of directions differ."),
    };
    Claim::new(severity(worst), format!("{} is asymmetric", capital(metric.name())))
        .detail(phrase![
            worst.slower_way.clone(),
            " gets ",
            value(metric, worst.slower_value),
            ", ",
            percent(worst.keeps),
            " of what ",
            worst.faster_way.clone(),
            " gets (",
            value(metric, worst.faster_value),
            ")",
        ])
        .further(others)
        .about(found, |ways| ways.slower)
        .with_evidence(found.iter().map(evidence))
        .with_limits(limitations(worst, looked))
        .with_remedy(remedy(worst.slower, context))
}

fn severity(worst: &DirectionPair<'_>) -> Severity {
    Severity::graded(worst.sure, worst.keeps < MUCH)
}

fn evidence(ways: &DirectionPair<'_>) -> Evidence {
    let evidence = Evidence::new(format!("{} vs {}", ways.slower_way, ways.faster_way));
    match &ways.change {
        Some(change) => evidence.ratio(change),
        None => evidence.number(Number::new(ways.keeps, Unit::Ratio)).text(", both directions at once"),
    }
}

fn limitations(worst: &DirectionPair<'_>, looked: usize) -> Vec<String> {
    let apart = "Ends that differ by design, such as a host and its guest, need not be symmetric, because \
                 the two directions involve different work.";
    let own = worst.limitation.map(str::to_owned);
    [apart.to_owned()].into_iter().chain(own).chain(significance::of_many(looked)).collect()
}

fn remedy(slower: &ResultSummary, context: &Context<'_>) -> Remedy {
    let free = context.measured_of(&slower.id).is_some_and(|result| result.record.placement == "free");
    Remedy {
        change: free.then(|| Change::Placement { place: "cross-cpu".into() }),
        ..Remedy::manual(
            "Compare both ends: offloads and queues of their devices, CPU and NUMA node \
             of their threads, other work",
            vec!["ethtool -k DEVICE".into(), "ethtool -l DEVICE".into(), "taskset -cp THREAD".into()],
        )
        .explained(
            "Then swap the ends: if the difference moves with them, they cause it; \
             otherwise the path does.",
        )
    }
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, imported};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || {
            imported::vhost(|vhost, path| vhost == "on" && path.starts_with("vm") && !path.contains("host"))
        },
        spares: || {
            imported::vhost(|vhost, path| vhost == "off" && path.starts_with("vm") && !path.contains("host"))
        },
        severity: Severity::Serious,
        says: &["vm1-to-vm0, vhost=on gets 6.3", "vm0-to-vm1, vhost=on gets (17.", "35."],
        change: None,
    };
}
