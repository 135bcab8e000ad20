//! `policed-port`: a packet filter drops packets that exceed a rate.

use samples::{DeviceCounters, PolicerCounters};
use units::BitRate;

use super::{ONE, ethtool::typed_at, prelude::*, strongest_by_device};

pub(crate) const RULE: Rule = Rule::cause("policed-port", look).counted().over(&[
    "retransmits",
    "datagram-loss",
    "stalled",
    "link-rate",
    "cwnd-limited",
    "buffer-limited",
    "slow-congestion-control",
]);

struct Policed<'a> {
    result: &'a ResultSummary,
    device: &'a str,
    policer: PolicerCounters,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let found = context.devices().filter_map(|(result, device)| {
        let policer = device.policer.filter(|policer| policer.dropped > 0)?;
        Some(Policed { result, device: device.device.as_str(), policer })
    });
    strongest_by_device(found.collect(), |it| it.device, |it| it.policer.dropped_bytes.0 as f64, finding)
}

fn finding(worst: &Policed<'_>, found: &[Policed<'_>]) -> Claim {
    claim(worst.device, &worst.policer, worst.result)
        .about(found, |policed| policed.result)
        .affected()
        .with_evidence(found.iter().map(|it| evidence(it.device, &it.policer, &it.result.label)))
}

pub(crate) fn of_one(device: &DeviceCounters) -> Option<Claim> {
    let policer = device.policer.filter(|policer| policer.dropped > 0)?;
    let evidence = evidence(&device.device, &policer, ONE);
    Some(claim(&device.device, &policer, ONE).with_evidence([evidence]))
}

fn claim(device: &str, policer: &PolicerCounters, measured: impl Into<Phrase>) -> Claim {
    let dropped = count(policer.dropped, "packet");
    let direction = if policer.leaving { "leaving" } else { "arriving" };
    Claim::new(
        Severity::Warning,
        phrase![
            "A packet filter at ",
            Phrase::device(device),
            format!(" drops traffic {direction} above "),
            rate(policer),
        ],
    )
    .detail(phrase!["it dropped ", dropped, " while measuring ", measured])
    .with_limits(["With segmentation offload one dropped packet contains many segments."])
    .with_remedy(
        Remedy::manual(
            "If the limit is not intended, remove the rule or raise its rate; otherwise shape at the sender, which \
             queues packets instead of dropping them",
            vec![typed_at(device, |_| "nft list ruleset".to_owned())],
        )
        .explained("A policer has no queue, so TCP takes its drops for congestion and stays below the limit."),
    )
}

fn rate(policer: &PolicerCounters) -> BitRate {
    BitRate(policer.bits_per_second as f64)
}

fn evidence(device: &str, policer: &PolicerCounters, label: &str) -> Evidence {
    Evidence::new(format!("dropped at {device} during {label}")).count(policer.dropped).text(format!(
        " packets, {}; limit {}",
        policer.dropped_bytes,
        rate(policer)
    ))
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, watched};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || watched::policed(30),
        spares: || watched::policed(0),
        severity: Severity::Warning,
        says: &[
            "A packet filter at a:eth0 drops traffic arriving above 500 Mbit/s",
            "180 packets",
            "nft list ruleset",
        ],
        change: None,
    };
}
