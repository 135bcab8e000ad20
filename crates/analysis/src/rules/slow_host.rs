//! `slow-host`: a host is slow with every peer when sending, receiving or both.

use findings::PairMatrix;

use super::{
    pair_shares::{self, SLOW, Way},
    prelude::*,
};

pub(crate) const RULE: Rule = Rule::cause("slow-host", look).over(&["direction-asymmetry"]);

const MUCH: f64 = 0.5;

/// A direction in which even the host's best pair is slow.
struct SlowWay<'a> {
    way: Way,
    best: &'a ResultSummary,
    keeps: f64,
    usual: f64,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let mut found: Vec<(f64, Claim)> = Vec::new();
    for matrix in &context.findings.matrices {
        for host in &matrix.hosts {
            let slow: Vec<SlowWay<'_>> =
                Way::BOTH.into_iter().filter_map(|way| slow_way(context, matrix, host, way)).collect();
            if let Some(keeps) = slow.iter().map(|slow| slow.keeps).min_by(f64::total_cmp) {
                found.push((keeps, finding(matrix, host, &slow)));
            }
        }
    }
    found.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    found.into_iter().map(|(_, finding)| finding).collect()
}

fn slow_way<'a>(context: &Context<'a>, matrix: &'a PairMatrix, host: &str, way: Way) -> Option<SlowWay<'a>> {
    let (best, usual) = pair_shares::of_host(matrix, host, way)?;
    let keeps = pair_shares::keeps(matrix, best.value, usual)?;
    let best = context.findings.result(&best.result)?;
    (keeps < SLOW).then_some(SlowWay { way, best, keeps, usual })
}

fn finding(matrix: &PairMatrix, host: &str, slow: &[SlowWay<'_>]) -> Claim {
    let worst = slow.iter().smallest(|one| one.keeps).expect("one is slow");
    let metric = matrix.metric;
    let ways = match slow {
        [only] => only.way.word(),
        _ => "sending and receiving",
    };
    let sure = slow.iter().any(|slow| pair_shares::is_apart(matrix, slow.best, slow.usual));
    let pairs = matrix.pairs.iter().filter(|pair| slow.iter().any(|slow| slow.way.host(pair) == host));
    let evidence = |slow: &SlowWay<'_>| {
        Evidence::new(format!("{}, the best pair of {host} {}", slow.best.label, slow.way.word()))
            .metric(metric, slow.best.value.estimate)
            .text(" vs ")
            .metric(metric, slow.usual)
            .text(" for pairs without it")
    };
    Claim::new(
        Severity::graded(sure, worst.keeps < MUCH),
        format!("Host {host} is slow with every peer when {ways}"),
    )
    .detail(phrase![
        "at best ",
        value(metric, worst.best.value.estimate),
        ", ",
        percent(worst.keeps),
        " of the rate of pairs without it (",
        value(metric, worst.usual),
        ")",
    ])
    .with_results(pairs.map(|pair| pair.result.clone()))
    .with_evidence(slow.iter().map(evidence))
    .with_limits((!sure).then_some(pair_shares::FEW))
    .with_remedy(remedy(host))
}

fn remedy(host: &str) -> Remedy {
    let commands = ["ethtool DEVICE", "tc -s qdisc show dev DEVICE", "ethtool -S DEVICE"];
    Remedy::manual(
        format!("Check {host} itself: negotiated link speed, rate limits, offloads and other work"),
        commands.map(|command| format!("{command}  # on {host}")).to_vec(),
    )
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::fleet(|from, to| if from == "c" || to == "c" { 1e9 } else { 10e9 }),
        // The host is slow with only one other host.
        spares: || made::fleet(|from, to| if (from, to) == ("c", "a") { 1e9 } else { 10e9 }),
        severity: Severity::Serious,
        says: &["Host c is slow with every peer when sending and receiving", "10.0 % of", "# on c"],
        change: None,
    };
}
