//! `lost-checksum`: an endpoint discards packets with an incorrect TCP or UDP checksum.

use samples::HostCounters;

use super::{
    ONE,
    ethtool::typed_at,
    prelude::*,
    refusals::{Harm, Refusal, by_host},
};

pub(crate) const RULE: Rule = Rule::cause("lost-checksum", look).counted().over(&[
    "stalled",
    "retransmits",
    "datagram-loss",
    "tail-latency",
    "slow-congestion-control",
    "cwnd-limited",
    "below-expected",
]);

/// Fewer errors may be due to chance.
const FEWEST: u64 = 10;

fn look(context: &Context<'_>) -> Vec<Claim> {
    let is_lossy = |refusal: &Refusal<'_>| match refusal.harm {
        Harm::Fatal => refusal.host.checksum_errors > 0,
        Harm::Measured => refusal.host.checksum_errors >= FEWEST,
    };
    let of_host = |worst: &Refusal<'_>| Some(of_host(worst, context));
    by_host(context, is_lossy, of_host, |refusal| evidence(refusal.host, &refusal.label))
}

fn of_host(worst: &Refusal<'_>, context: &Context<'_>) -> Claim {
    let label = &worst.label;
    let claim = claim(&worst.host.host).detail(match worst.harm {
        Harm::Fatal => format!("{label} cannot be measured"),
        Harm::Measured => format!("it discards them while measuring {label}"),
    });
    match sender(worst, context) {
        Some(device) => claim.with_remedy(remedy(device)),
        None => claim,
    }
}

pub(crate) fn of_one(host: &HostCounters) -> Option<Claim> {
    let claim =
        || claim(&host.host).with_evidence([evidence(host, ONE)]).with_remedy(remedy("the server:DEVICE"));
    (host.checksum_errors >= FEWEST).then(claim)
}

fn claim(host: &str) -> Claim {
    Claim::new(Severity::Serious, format!("{host} receives packets with wrong TCP or UDP checksums"))
        .with_limits(["The counters do not show which device changed or did not complete the checksums."])
}

fn sender<'a>(refusal: &Refusal<'_>, context: &Context<'a>) -> Option<&'a str> {
    let path = context.header.paths.iter().find(|path| path.name == refusal.path)?;
    let is_own = |device: &str| device.split_once(':').is_some_and(|(host, _)| host == refusal.host.host);
    [&path.from, &path.to].into_iter().map(String::as_str).find(|device| !is_own(device))
}

fn remedy(device: &str) -> Remedy {
    Remedy::manual(
        "Turn off transmit checksum offload on the sender. If the errors stop, a device on the path does not fill in the checksums",
        vec![typed_at(device, |name| format!("ethtool -K {name} tx off"))],
    )
    .explained("With the offload on, the last device that sends a packet has to complete its checksum.")
}

fn evidence(host: &HostCounters, label: &str) -> Evidence {
    Evidence::new(format!("checksum errors at {}, {label}", host.host))
        .count(host.checksum_errors)
        .text(" packets (InCsumErrors)")
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, watched};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || watched::refused(0, 0, 4),
        spares: || watched::refused(4, 4, 0),
        severity: Severity::Serious,
        says: &["b receives packets with wrong TCP or UDP checksums", "4", "ethtool -K eth0 tx off  # in a"],
        change: None,
    };
}
