//! `contamination`: pairs of hosts are slower when measured simultaneously than separately.

use findings::{Contamination, PairMatrix};

use super::{
    prelude::*,
    significance::{self, Side, WeighedDifference},
};

pub(crate) const RULE: Rule = Rule::measurement("contamination", look);

fn look(context: &Context<'_>) -> Vec<Claim> {
    context.findings.matrices.iter().filter_map(finding).collect()
}

fn finding(matrix: &PairMatrix) -> Option<Claim> {
    let contamination = matrix.contamination.as_ref()?;
    let Contamination { change, trials, at_once } = contamination;
    let weighed = significance::weigh(change).filter(|weighed| is_worse(matrix, weighed))?;
    let what = matrix.metric.name();
    Some(
        Claim::new(
            Severity::warning_if(weighed.sure),
            "Pairs measured at the same time disturbed each other",
        )
        .detail(phrase![
            format!("{what} of {} is ", matrix.workload),
            change,
            " compared with the same pairs alone",
        ])
        .with_results(matrix.pairs.iter().map(|pair| pair.result.clone()))
        .with_evidence([Evidence::new(format!(
            "{trials} pairs of trials, up to {at_once} pairs of hosts at once"
        ))
        .ratio(change)])
        .with_limits(weighed.limitation)
        .with_remedy(
            Remedy::manual(
                "The pairs share a switch, an uplink or a hypervisor's CPUs",
                vec![
                    "uplink = \"NAME\"  # in [hosts.NAME] of all hosts behind it".to_owned(),
                    "at_once = false  # in [schedule]".to_owned(),
                ],
            )
            .explained(
                "Declare the shared resource so that no two pairs use it at the same time, or measure one \
             pair at a time.",
            ),
        ),
    )
}

fn is_worse(matrix: &PairMatrix, weighed: &WeighedDifference) -> bool {
    match matrix.metric.more_is_better() {
        Some(true) => weighed.side == Side::Lower,
        Some(false) => weighed.side == Side::Higher,
        None => true,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::{fixtures::contaminated, rules::tests::Case};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || contaminated(0.7),
        spares: || contaminated(1.0),
        severity: Severity::Warning,
        says: &[
            "disturbed each other",
            "throughput of bulk is −",
            "12 pairs of trials, up to 2",
            "uplink = ",
        ],
        change: None,
    };
}
