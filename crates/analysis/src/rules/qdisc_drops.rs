//! `qdisc-drops`: a device on the path or its queueing discipline dropped packets.

use samples::DeviceCounters;

use super::{ONE, ethtool::typed_at, prelude::*, strongest_by_device};

pub(crate) const RULE: Rule =
    Rule::cause("qdisc-drops", look).counted().over(&["retransmits", "datagram-loss"]);

/// Minimum fraction of dropped packets that calls for action.
pub(super) const MUCH: f64 = 1e-4;

struct Lossy<'a> {
    result: &'a ResultSummary,
    device: &'a DeviceCounters,
    dropped: u64,
    share: f64,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let found = context.findings.results.iter().flat_map(of_result).collect();
    strongest_by_device(found, |it: &Lossy<'_>| &it.device.device, |it| it.share, finding)
}

fn of_result(result: &ResultSummary) -> Vec<Lossy<'_>> {
    let devices = result.counters.iter().flat_map(|counters| &counters.devices);
    let by_backlog =
        result.counters.as_ref().and_then(|counters| counters.softnet).map_or(0, |softnet| softnet.dropped);
    let lossy = devices.filter_map(|device| {
        let dropped = dropped(device, by_backlog);
        (dropped > 0).then(|| Lossy { result, device, dropped, share: share(device, dropped) })
    });
    lossy.collect()
}

/// Counts each dropped packet once. A driver's counter may include drops by its queueing discipline, and both
/// `tx_dropped` and `rx_dropped` may include backlog drops.
fn dropped(device: &DeviceCounters, by_backlog: u64) -> u64 {
    let out = by_qdisc(device).max(device.tx_dropped.saturating_sub(by_backlog));
    out.saturating_add(device.rx_dropped.saturating_sub(by_backlog))
}

fn share(device: &DeviceCounters, dropped: u64) -> f64 {
    let handled = device.tx_packets.saturating_add(device.rx_packets).saturating_add(dropped);
    dropped as f64 / handled.max(1) as f64
}

pub(super) fn share_dropped(device: &DeviceCounters) -> f64 {
    share(device, by_qdisc(device))
}

fn by_qdisc(device: &DeviceCounters) -> u64 {
    device.qdisc.as_ref().map_or(0, |qdisc| qdisc.drops)
}

fn finding(worst: &Lossy<'_>, alike: &[Lossy<'_>]) -> Claim {
    claim(worst.device, worst.dropped, worst.result)
        .about(alike, |lossy| lossy.result)
        .affected()
        .with_evidence(alike.iter().map(|lossy| evidence(lossy.device, &lossy.result.label)))
}

pub(crate) fn of_one(device: &DeviceCounters) -> Option<Claim> {
    let dropped = by_qdisc(device);
    (dropped > 0).then(|| claim(device, dropped, ONE).with_evidence([evidence(device, ONE)]))
}

fn claim(device: &DeviceCounters, dropped: u64, measured: impl Into<Phrase>) -> Claim {
    let dropper = Phrase::device(&device.device);
    let dropper = match device.qdisc.as_ref().filter(|qdisc| qdisc.drops > 0) {
        Some(qdisc) => phrase!["The queueing discipline of ", dropper, format!(" ({})", qdisc.kind)],
        None => dropper,
    };
    let share = share(device, dropped);
    Claim::new(
        Severity::warning_if(share >= MUCH),
        phrase![
            dropper,
            " dropped ",
            count(dropped, "packet"),
            " while measuring ",
            measured,
            ", ",
            percent(share),
            " of all its packets",
        ],
    )
    .with_limits([
        "TCP uses drops to find its rate, so a few drops at a shaper are normal.",
        "With segmentation offload, one dropped packet contains many segments.",
    ])
    .with_remedy(remedy(device))
}

fn evidence(device: &DeviceCounters, label: &str) -> Evidence {
    let qdisc = device.qdisc.as_ref().map_or_else(String::new, |qdisc| {
        format!(
            "; {}: {} dropped, {} over limit, {} requeued",
            qdisc.kind, qdisc.drops, qdisc.overlimits, qdisc.requeues
        )
    });
    Evidence::new(format!("{} during {label}", device.device))
        .count(device.rx_dropped)
        .text(" of ")
        .count(device.rx_packets)
        .text(" in and ")
        .count(device.tx_dropped)
        .text(" of ")
        .count(device.tx_packets)
        .text(format!(" out dropped{qdisc}"))
}

pub(super) const SHAPERS: [&str; 5] = ["cake", "hfsc", "htb", "netem", "tbf"];

fn remedy(device: &DeviceCounters) -> Remedy {
    let show = typed_at(&device.device, |device| format!("tc -s qdisc show dev {device}"));
    if by_qdisc(device) > 0 {
        if device.qdisc.as_ref().is_some_and(|qdisc| SHAPERS.contains(&qdisc.kind.as_str())) {
            let action = "It limits the rate: if that is not intended, raise its rate or lengthen its queue";
            return Remedy::manual(action, vec![show]);
        }
        let action =
            "Make the queue as long as the path needs, or use a fair queueing discipline with early drops";
        let replace =
            typed_at(&device.device, |device| format!("tc qdisc replace dev {device} root fq_codel"));
        return Remedy::manual(action, vec![show, replace]);
    }
    let action = "Find out why the device drops packets; possible causes are a short ring, a peer that is down or full, \
         and oversized packets";
    let statistics = typed_at(&device.device, |device| format!("ethtool -S {device}"));
    let ring = typed_at(&device.device, |device| format!("ethtool -g {device}"));
    Remedy::manual(action, vec![statistics, ring, show])
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, watched};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || watched::dropping(0, 20),
        spares: || watched::dropping(20, 0),
        severity: Severity::Warning,
        says: &["queueing discipline of a:eth0 (tbf) dropped 120 packets", "It limits the rate"],
        change: None,
    };
}
