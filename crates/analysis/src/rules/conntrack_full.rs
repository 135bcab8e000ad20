//! `conntrack-full`: a host dropped packets of new connections because its connection tracking table was full.

use super::{
    prelude::*,
    refusals::{Harm, Refusal, by_host, refusals},
};

pub(crate) const RULE: Rule = Rule::cause("conntrack-full", look).counted().over(&[
    "stalled",
    "retransmits",
    "tail-latency",
    "unsteady",
    "level-shift",
    "trend",
    "below-expected",
]);

fn look(context: &Context<'_>) -> Vec<Claim> {
    let groups = by_host(refusals(context).into_iter().filter(|refusal| refusal.host.table_full > 0));
    groups.iter().filter_map(|group| finding(group)).collect()
}

fn finding(group: &[Refusal<'_>]) -> Option<Claim> {
    let worst = group.first()?;
    let (host, label) = (&worst.host.host, &worst.label);
    let (severity, consequence) = match worst.harm {
        Harm::Fatal => (Severity::Serious, format!("{label} cannot be measured")),
        Harm::Measured => (Severity::Warning, format!("connections were refused while measuring {label}")),
    };
    let claim = Claim::new(severity, format!("The connection tracking table of {host} is full"))
        .detail(consequence)
        .with_results(group.iter().map(|refusal| refusal.result.to_owned()))
        .affected()
        .with_evidence(group.iter().map(evidence))
        .with_limits(["All connections that the host tracks share the table, also those of containers."])
        .with_remedy(
            Remedy::manual(
                "Raise the limit, or do not track connections that need neither NAT nor a stateful rule",
                vec![
                    format!("sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max  # in {host}"),
                    format!("dmesg | grep 'table full'  # in {host}"),
                ],
            )
            .explained("An idle TCP connection stays in the table for up to five days (nf_conntrack_tcp_timeout_established)."),
        );
    Some(claim)
}

fn evidence(refusal: &Refusal<'_>) -> Evidence {
    let tracked = refusal.host.tracked.map(|tracked| format!("; {tracked} connections are tracked"));
    Evidence::new(format!("dropped on {} because the table was full, {}", refusal.host.host, refusal.label))
        .count(refusal.host.table_full)
        .text(format!(" packets{}", tracked.unwrap_or_default()))
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, watched};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || watched::refused(0, 4, 0),
        spares: || watched::refused(4, 0, 4),
        severity: Severity::Serious,
        says: &[
            "The connection tracking table of b is full",
            "1024 connections are tracked",
            "net.netfilter.nf_conntrack_max  # in b",
        ],
        change: None,
    };
}
