//! `policed-port`: a packet filter drops packets that exceed a rate.

use std::ops::RangeInclusive;

use samples::{DeviceCounters, PolicerCounters};
use units::BitRate;
use workload::Quantity;

use super::{ONE, datagram_loss, ethtool::typed_at, prelude::*, retransmits, strongest_by_device};

pub(crate) const RULE: Rule = Rule::cause("policed-port", look).counted().over(&[
    "retransmits",
    "datagram-loss",
    "stalled",
    "link-rate",
    "cwnd-limited",
    "buffer-limited",
    "slow-congestion-control",
]);

/// Plausible rates, as fractions of the limit, if the rule has no counter. TCP often stays below the limit. The token
/// bucket holds the bytes of about a second, so a trial of about a second can reach twice the limit.
const NEAR: RangeInclusive<f64> = 0.1..=2.2;

struct Policed<'a> {
    result: &'a ResultSummary,
    device: &'a str,
    policer: PolicerCounters,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let found = context.devices().filter_map(|(result, device)| {
        let policer = device.policer.filter(|policer| polices(policer, result, context))?;
        Some(Policed { result, device: &device.device, policer })
    });
    strongest_by_device(found.collect(), |it| it.device, |it| it.policer.dropped_bytes.0 as f64, finding)
}

fn polices(policer: &PolicerCounters, result: &ResultSummary, context: &Context<'_>) -> bool {
    if !policer.uncounted {
        return policer.dropped > 0;
    }
    let rate = result.value.estimate / rate(policer).0;
    let is_lossy = retransmits::is_lossy(result, context) || datagram_loss::is_lossy(result);
    result.metric.quantity() == Quantity::BitRate && is_lossy && NEAR.contains(&rate)
}

fn finding(worst: &Policed<'_>, found: &[Policed<'_>]) -> Claim {
    let Policed { result, device, policer } = worst;
    let detail = if policer.uncounted {
        let measured = value(result.metric, result.value.estimate);
        phrase!["its rule has no counter; ", measured, " measured, with losses"]
    } else {
        dropped(policer, *result)
    };
    claim(device, policer, detail).about(found, |policed| policed.result).affected().with_evidence(
        found.iter().map(|it| {
            let Policed { result, device, policer } = it;
            if policer.uncounted {
                Evidence::new(format!("measured in {}", result.label))
                    .metric(result.metric, result.value.estimate)
                    .text(format!(", with losses; limit at {device} {}", rate(policer)))
            } else {
                evidence(device, policer, &result.label)
            }
        }),
    )
}

pub(crate) fn of_one(device: &DeviceCounters) -> Option<Claim> {
    let policer = device.policer.filter(|policer| !policer.uncounted && policer.dropped > 0)?;
    let evidence = evidence(&device.device, &policer, ONE);
    Some(claim(&device.device, &policer, dropped(&policer, ONE)).with_evidence([evidence]))
}

fn dropped(policer: &PolicerCounters, measured: impl Into<Phrase>) -> Phrase {
    phrase!["it dropped ", count(policer.dropped, "packet"), " while measuring ", measured]
}

fn claim(device: &str, policer: &PolicerCounters, detail: Phrase) -> Claim {
    let direction = if policer.leaving { "leaving" } else { "arriving" };
    let (action, limitation) = if policer.uncounted {
        (format!(" limits {direction} traffic to "), "Something else may have caused the losses.")
    } else {
        let limitation = "With segmentation offload, one dropped packet contains many segments.";
        (format!(" drops traffic {direction} above "), limitation)
    };
    Claim::new(
        Severity::Warning,
        phrase!["A packet filter at ", Phrase::device(device), action, rate(policer)],
    )
    .detail(detail)
    .with_limits([limitation])
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
