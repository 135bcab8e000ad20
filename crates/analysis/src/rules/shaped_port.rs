//! `shaped-port`: the queueing discipline of a device delays packets to limit their rate, without dropping many.

use samples::{DeviceCounters, QdiscCounters};

use super::{
    ONE,
    ethtool::typed_at,
    prelude::*,
    qdisc_drops::{MUCH, SHAPERS, share_dropped},
    strongest_by_device,
};

pub(crate) const RULE: Rule = Rule::cause("shaped-port", look).counted().over(&[
    "link-rate",
    "cwnd-limited",
    "buffer-limited",
    "tail-latency",
]);

/// Minimum number of delays per packet. A packet may be delayed several times. With fewer delays, the sender rarely
/// exceeds the rate limit.
const WORTH_A_WARNING: f64 = 0.1;

struct Shaped<'a> {
    result: &'a ResultSummary,
    device: &'a DeviceCounters,
    qdisc: &'a QdiscCounters,
    share: f64,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let found = context.devices().filter_map(|(result, device)| {
        let (qdisc, share) = shaping(device)?;
        Some(Shaped { result, device, qdisc, share })
    });
    strongest_by_device(found.collect(), |it| &it.device.device, |it| it.share, finding)
}

fn shaping(device: &DeviceCounters) -> Option<(&QdiscCounters, f64)> {
    let qdisc = device.qdisc.as_ref().filter(|qdisc| SHAPERS.contains(&qdisc.kind.as_str()))?;
    let share = qdisc.overlimits as f64 / device.tx_packets.max(1) as f64;
    // If the queueing discipline drops many packets, `qdisc-drops` reports it.
    (share >= WORTH_A_WARNING && share_dropped(device) < MUCH).then_some((qdisc, share))
}

fn finding(worst: &Shaped<'_>, found: &[Shaped<'_>]) -> Claim {
    let Shaped { result, device, qdisc, share } = worst;
    claim(&device.device, qdisc, *share, *result)
        .about(found, |shaped| shaped.result)
        .affected()
        .with_evidence(found.iter().map(|it| evidence(it.device, it.qdisc, &it.result.label)))
}

pub(crate) fn of_one(device: &DeviceCounters) -> Option<Claim> {
    let (qdisc, share) = shaping(device)?;
    Some(claim(&device.device, qdisc, share, ONE).with_evidence([evidence(device, qdisc, ONE)]))
}

fn claim(device: &str, qdisc: &QdiscCounters, share: f64, measured: impl Into<Phrase>) -> Claim {
    Claim::new(
        Severity::Warning,
        phrase![
            "The queueing discipline of ",
            Phrase::device(device),
            format!(" ({}) limits the rate", qdisc.kind),
        ],
    )
    .detail(phrase![
        format!("it delayed packets {:.0} times per 100 packets while measuring ", share * 100.0),
        measured,
    ])
    .with_remedy(Remedy::manual(
        "If the limit is not intended, remove the queueing discipline or raise its rate",
        vec![typed_at(device, |device| format!("tc -s qdisc show dev {device}"))],
    ))
}

fn evidence(device: &DeviceCounters, qdisc: &QdiscCounters, label: &str) -> Evidence {
    Evidence::new(format!("over the limit at {} during {label}", device.device))
        .count(qdisc.overlimits)
        .text(" times for ")
        .count(device.tx_packets)
        .text(" packets")
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, watched};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || watched::shaped(50_000),
        spares: || watched::shaped(500),
        severity: Severity::Warning,
        says: &[
            "queueing discipline of a:eth0 (tbf) limits the rate",
            "delayed packets 50 times per 100 packets while measuring",
        ],
        change: None,
    };
}
