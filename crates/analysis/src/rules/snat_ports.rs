//! `snat-ports`: source NAT found no free port for a connection, so its packets were dropped.

use samples::HostCounters;

use super::{
    prelude::*,
    refusals::{Refusal, SYMPTOMS, by_host},
};

pub(crate) const RULE: Rule = Rule::cause("snat-ports", look).counted().over(SYMPTOMS);

fn look(context: &Context<'_>) -> Vec<Claim> {
    let exhausted = |refusal: &Refusal<'_>| {
        let HostCounters { insert_failed, nat_ports, .. } = refusal.host;
        nat_ports.is_some() && (*insert_failed > 0 || !refusal.host.has_refused())
    };
    by_host(context, exhausted, claim, evidence)
}

fn claim(worst: &Refusal<'_>) -> Option<Claim> {
    let [first, last] = worst.host.nat_ports?;
    let ports = usize::from(last.saturating_sub(first)) + 1;
    let host = &worst.host.host;
    let claim = worst
        .of_connections(format!("Source NAT on {host} uses up its {}", count(ports, "port")))
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

fn evidence(refusal: &Refusal<'_>) -> Evidence {
    let ports =
        refusal.host.nat_ports.map(|[first, last]| format!("; the rule allows ports {first} to {last}"));
    let (host, label) = (&refusal.host.host, &refusal.label);
    let evidence = match (refusal.host.insert_failed, refusal.host.tracked) {
        (0, Some(tracked)) => {
            Evidence::new(format!("tracked on {host} after all connection attempts failed, {label}"))
                .count(tracked)
                .text(" connections")
        }
        (failed, _) => Evidence::new(format!("dropped on {host} because no port was free, {label}"))
            .count(failed)
            .text(" packets"),
    };
    evidence.text(ports.unwrap_or_default())
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
