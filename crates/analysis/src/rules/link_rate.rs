//! `link-rate`: a path reaches exactly the rate of a common link.

use units::BitRate;
use workload::{Metric, Transport};

use super::prelude::*;

pub(crate) const RULE: Rule =
    Rule::cause("link-rate", look).over(&["buffer-limited", "cwnd-limited", "retransmits"]);

/// Common rates of links and rate limiters, in bit/s.
const RATES: [f64; 10] = [1e8, 1e9, 2.5e9, 5e9, 1e10, 2.5e10, 4e10, 5e10, 1e11, 2e11];
/// Header bytes per TCP segment: IPv4 and TCP have 20 each, and timestamps 12. IPv6 adds another 20.
const HEADERS: [f64; 2] = [52.0, 72.0];
/// Overhead per packet in bytes: as counted by a shaper (Ethernet header), and on the wire (also preamble, FCS and
/// gap).
const FRAMES: [f64; 2] = [14.0, 38.0];
/// Segment size for the usual MTU of 1500.
const USUAL_SEGMENT: u32 = 1448;
const EXISTING: &str = "network";
/// Maximum relative deviation from a link's rate.
const NEAR: f64 = 0.004;
/// Maximum relative variation between trials. A saturated link gives equal rates.
const STEADY: f64 = 0.01;

struct FullLink<'a> {
    result: &'a ResultSummary,
    rate: f64,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let found: Vec<FullLink<'_>> = context
        .results()
        .filter_map(|(result, measured)| Some(FullLink { result, rate: of(result, measured)? }))
        .collect();
    strongest(found, |it| it.rate, finding)
}

/// Returns the rate in bit/s of the link that an unlimited TCP stream saturates, if any.
pub(super) fn of(result: &ResultSummary, measured: &Observations<'_>) -> Option<f64> {
    if result.layers.iter().any(|layer| layer != EXISTING) {
        return None;
    }
    let load = measured.asked()?;
    let is_free =
        load.transport == Transport::Tcp && load.rate.is_none() && load.direction.flows().len() == 1;
    if result.metric != Metric::Throughput || !is_free || result.values.len() < 2 {
        return None;
    }
    let (median, segment) = (result.value.estimate, result.sockets.iter().find_map(|end| end.socket.mss));
    let is_steady = result.values.iter().all(|value| (value / median - 1.0).abs() <= STEADY / 2.0);
    let payload = f64::from(segment.unwrap_or(USUAL_SEGMENT));
    let shares = HEADERS.iter().flat_map(|headers| FRAMES.map(|frame| payload / (payload + headers + frame)));
    let (least, most) =
        shares.fold((1.0_f64, 0.0_f64), |(least, most), share| (least.min(share), most.max(share)));
    let is_filled = |rate: &f64| (least - NEAR..=most + NEAR).contains(&(median / rate));
    RATES.into_iter().find(is_filled).filter(|_| is_steady)
}

fn finding(fastest: &FullLink<'_>, found: &[FullLink<'_>]) -> Claim {
    let FullLink { result, rate } = fastest;
    let evidence = |full: &FullLink<'_>| {
        let of = Evidence::new(format!("{} on a link of {}", full.result.label, BitRate(full.rate)));
        of.metric(full.result.metric, full.result.value.estimate)
            .text(", ")
            .share(full.result.value.estimate / full.rate)
            .text(" of it, in every trial")
    };
    Claim::new(
        Severity::Note,
        phrase![
            *result,
            " reaches the rate of a ",
            BitRate(*rate),
            " link, ",
            value(result.metric, result.value.estimate),
            " in every trial",
        ],
    )
    .detail("a link, a shaper or a policer sets this rate, not the ends")
    .factual()
    .about(found, |full| full.result)
    .affected()
    .with_evidence(found.iter().map(evidence))
    .with_limits(["Another limit may be close to a link rate by chance, but it would hardly be as steady."])
    .with_remedy(Remedy::manual(
        "Find what limits the rate on both hosts: the speed of each device, a \
             queueing discipline, a rate limit of a virtual machine's device",
        vec!["ethtool DEVICE  # Speed".into(), "tc -s qdisc show dev DEVICE".into()],
    ))
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::steady(9.49e8),
        spares: || made::steady(8.5e8),
        severity: Severity::Note,
        says: &["reaches the rate of a 1.00 Gbit/s link, 949 Mbit/s in every trial", "94.9 %", "tc -s qdisc"],
        change: None,
    };
}
