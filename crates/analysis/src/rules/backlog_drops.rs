//! `backlog-drops`: packets were dropped because a CPU's backlog queue was full.

use samples::SoftnetCounters;

use super::prelude::*;

pub(crate) const RULE: Rule = Rule::cause("backlog-drops", look).over(&["retransmits", "datagram-loss"]);

/// Minimum fraction of lost packets that calls for action.
const MUCH: f64 = 1e-4;

type BacklogDrops<'a> = (&'a ResultSummary, SoftnetCounters);

fn look(context: &Context<'_>) -> Vec<Claim> {
    let counted = context
        .findings
        .results
        .iter()
        .filter_map(|result| Some((result, result.counters.as_ref()?.softnet?)));
    let mut found: Vec<BacklogDrops<'_>> =
        counted.filter(|(result, softnet)| softnet.dropped > 0 && is_on_path(result)).collect();
    found.sort_by(|(_, one), (_, other)| share(other).total_cmp(&share(one)));
    found.first().map(|worst| finding(worst, &found)).into_iter().collect()
}

fn share(softnet: &SoftnetCounters) -> f64 {
    softnet.dropped as f64 / softnet.processed.saturating_add(softnet.dropped).max(1) as f64
}

/// A device also counts packets lost to a full backlog queue (`enqueue_to_backlog` in net/core/dev.c). If no device on
/// the path counted any, the drops belong to other traffic.
fn is_on_path(result: &ResultSummary) -> bool {
    let mut devices = result.counters.iter().flat_map(|counters| &counters.devices);
    devices.any(|device| device.rx_dropped > 0 || device.tx_dropped > 0)
}

fn finding((result, softnet): &BacklogDrops<'_>, found: &[BacklogDrops<'_>]) -> Claim {
    let is_much = share(softnet) >= MUCH;
    let claim = Claim::new(Severity::warning_if(is_much), "CPU backlog queues overflowed")
        .detail(phrase![
            count(softnet.dropped, "packet"),
            " dropped, ",
            percent(share(softnet)),
            " of all packets queued there, in ",
            *result,
        ])
        .about(found, |(result, ..)| result)
        .affected()
        .with_evidence(found.iter().map(evidence))
        .with_limits([
            "The queues belong to the machine, so packets of other programs count too.",
            "A sender without congestion control fills any queue; a longer one drops later and adds delay.",
        ]);
    if !is_much {
        return claim;
    }
    claim.with_remedy(
        Remedy::manual(
            "Lengthen the backlog queue so that it holds the packets arriving between \
             two softirqs",
            vec![
                "sysctl -w net.core.netdev_max_backlog=10000".into(),
                "sysctl -w net.core.netdev_budget=600 net.core.netdev_budget_usecs=8000".into(),
                "cat /proc/net/softnet_stat  # second column: dropped, third: out of budget".into(),
            ],
        )
        .explained("If the softirq budget runs out, raise it, and spread packets over more CPUs."),
    )
}

fn evidence((result, softnet): &BacklogDrops<'_>) -> Evidence {
    Evidence::new(format!("softnet_stat during {}", result.label))
        .count(softnet.dropped)
        .text(" of ")
        .count(softnet.processed.saturating_add(softnet.dropped))
        .text(" dropped; the budget ran out ")
        .text(count(softnet.squeezed, "time"))
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, watched};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || watched::dropping(20, 0),
        spares: || watched::dropping(0, 0),
        severity: Severity::Warning,
        says: &["120 packets dropped", "0.02 %", "net.core.netdev_max_backlog"],
        change: None,
    };
}
