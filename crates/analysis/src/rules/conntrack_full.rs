//! `conntrack-full`: a host dropped packets of new connections because its connection tracking table was full.

use super::{
    prelude::*,
    refusals::{Refusal, SYMPTOMS, by_host},
};

pub(crate) const RULE: Rule = Rule::cause("conntrack-full", look).counted().over(SYMPTOMS);

fn look(context: &Context<'_>) -> Vec<Claim> {
    by_host(context, |refusal| refusal.host.table_full > 0, |worst| Some(claim(worst)), evidence)
}

fn claim(worst: &Refusal<'_>) -> Claim {
    let host = &worst.host.host;
    worst
        .of_connections(format!("The connection tracking table of {host} is full"))
        .with_limits(["All network namespaces of the host share the limit, including those of containers."])
        .with_remedy(
            Remedy::manual(
                "Raise the limit, or do not track connections that need neither NAT nor a stateful rule",
                vec![
                    format!("sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max  # in {host}"),
                    format!("dmesg | grep 'table full'  # in {host}"),
                ],
            )
            .explained("An idle TCP connection stays in the table for up to five days (nf_conntrack_tcp_timeout_established)."),
        )
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
            "12 connections are tracked",
            "net.netfilter.nf_conntrack_max  # in b",
        ],
        change: None,
    };
}
