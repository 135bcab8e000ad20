//! `snat-ports`: source NAT found no free port for a connection, so its packets were dropped.

use super::{
    prelude::*,
    refusals::{Harm, Refusal, by_host, refusals},
};

pub(crate) const RULE: Rule = Rule::cause("snat-ports", look).counted().over(&[
    "stalled",
    "retransmits",
    "tail-latency",
    "unsteady",
    "level-shift",
    "trend",
    "below-expected",
]);

fn look(context: &Context<'_>) -> Vec<Claim> {
    let exhausted =
        |refusal: &Refusal<'_>| refusal.host.insert_failed > 0 && refusal.host.nat_ports.is_some();
    let groups = by_host(refusals(context).into_iter().filter(exhausted));
    groups.iter().filter_map(|group| finding(group)).collect()
}

fn finding(group: &[Refusal<'_>]) -> Option<Claim> {
    let worst = group.first()?;
    let [first, last] = worst.host.nat_ports?;
    let ports = usize::from(last.saturating_sub(first)) + 1;
    let host = &worst.host.host;
    let label = &worst.label;
    let (severity, consequence) = match worst.harm {
        Harm::Fatal => (Severity::Serious, format!("{label} needs more connections and cannot be measured")),
        Harm::Measured => (Severity::Warning, format!("connections were refused while measuring {label}")),
    };
    let claim = Claim::new(severity, format!("Source NAT on {host} uses up its {}", count(ports, "port")))
        .detail(consequence)
        .with_results(group.iter().map(|refusal| refusal.result.to_owned()))
        .affected()
        .with_evidence(group.iter().map(|refusal| evidence(refusal, [first, last])))
        .with_limits(["Other connections of the host to the same server use the same ports."])
        .with_remedy(
            Remedy::manual(
                "Widen the port range of the rule, or give it more addresses",
                vec![
                    format!("nft list ruleset  # in {host}"),
                    format!("cat /proc/net/stat/nf_conntrack  # in {host}; insert_failed"),
                ],
            )
            .explained("A port can be used once for each address and port of a server, and stays in use while the closed connection is tracked."),
        );
    Some(claim)
}

fn evidence(refusal: &Refusal<'_>, [first, last]: [u16; 2]) -> Evidence {
    Evidence::new(format!("dropped on {} for want of a port, {}", refusal.host.host, refusal.label))
        .count(refusal.host.insert_failed)
        .text(format!(" packets; the rule allows ports {first} to {last}"))
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, watched};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || watched::refused(4, 0, 0),
        spares: || watched::refused(0, 4, 4),
        severity: Severity::Serious,
        says: &[
            "Source NAT on b uses up its 16 ports",
            "4",
            "ports 40000 to 40015",
            "nft list ruleset  # in b",
        ],
        change: None,
    };
}
