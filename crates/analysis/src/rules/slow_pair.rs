//! `slow-pair`: one direction between two hosts is slow, although both hosts are fast with all others.

use findings::{HostPair, PairMatrix};

use super::{
    pair_shares::{self, SLOW},
    prelude::*,
};

pub(crate) const RULE: Rule = Rule::cause("slow-pair", look).over(&["direction-asymmetry"]);

const MUCH: f64 = 0.5;

struct SlowPair<'a> {
    matrix: &'a PairMatrix,
    pair: &'a HostPair,
    result: &'a ResultSummary,
    expected: f64,
    keeps: f64,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let mut found: Vec<SlowPair<'_>> = Vec::new();
    for matrix in &context.findings.matrices {
        found.extend(matrix.pairs.iter().filter_map(|pair| slow(context, matrix, pair)));
    }
    found.sort_by(|one, other| one.keeps.total_cmp(&other.keeps));
    if found.is_empty() { Vec::new() } else { vec![finding(&found)] }
}

fn slow<'a>(context: &Context<'a>, matrix: &'a PairMatrix, pair: &'a HostPair) -> Option<SlowPair<'a>> {
    let expected = pair_shares::expected(matrix, pair)?;
    let keeps = pair_shares::keeps(matrix, pair.value, expected)?;
    let result = context.findings.result(&pair.result)?;
    (keeps < SLOW).then_some(SlowPair { matrix, pair, result, expected, keeps })
}

fn finding(found: &[SlowPair<'_>]) -> Claim {
    let worst = &found[0];
    let (from, to, metric) = (&worst.pair.from, &worst.pair.to, worst.matrix.metric);
    let sure = pair_shares::is_apart(worst.matrix, worst.result, worst.expected);
    let others = match found.len() - 1 {
        0 => String::new(),
        1 => "One more direction is slow.".to_owned(),
        more => format!("{more} more directions are slow."),
    };
    let evidence = |slow: &SlowPair<'_>| {
        let SlowPair { matrix, pair, .. } = slow;
        let evidence = Evidence::new(format!("{} to {}", pair.from, pair.to))
            .metric(matrix.metric, pair.value)
            .text(" vs ")
            .metric(matrix.metric, slow.expected)
            .text(" with others");
        match pair_shares::between(matrix, &pair.to, &pair.from) {
            Some(back) => evidence.text(", reverse ").metric(matrix.metric, back.value),
            None => evidence,
        }
    };
    Claim::new(Severity::graded(sure, worst.keeps < MUCH), format!("The path from {from} to {to} is slow"))
        .detail(phrase![
            value(metric, worst.pair.value),
            ", ",
            percent(worst.keeps),
            " of their rate with other hosts (",
            value(metric, worst.expected),
            ")",
        ])
        .further(others)
        .with_results(found.iter().map(|slow| slow.pair.result.clone()))
        .with_evidence(found.iter().map(evidence))
        .with_limits((!sure).then_some(pair_shares::FEW))
        .with_remedy(remedy(from, to))
}

fn remedy(from: &str, to: &str) -> Remedy {
    Remedy::manual(
        format!(
            "Check what only this path uses: routes and firewall rules between {from} and {to}, a cable or \
             bond port"
        ),
        vec![
            format!("ip route get ADDRESS-OF-{to}  # on {from}"),
            format!("nft list ruleset  # on {from} and {to}"),
            format!("nstat -az TcpRetransSegs  # on {from}"),
        ],
    )
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::fleet(|from, to| if (from, to) == ("c", "a") { 4e9 } else { 10e9 }),
        // One host is slow with every peer, which explains it.
        spares: || made::fleet(|from, _| if from == "c" { 4e9 } else { 10e9 }),
        severity: Severity::Serious,
        says: &["from c to a is slow: 4.00 Gbit/s, 39.9 %", "reverse 10.0 Gbit/s"],
        change: None,
    };
}
