//! `black-hole`: a path loses the client's packets above some size without an ICMP error, so the sender does not
//! notice.

use std::collections::BTreeMap;

use findings::result_label;
use samples::{BlackHole, ResultRecord};
use workload::LEAST_IPV6_MTU;

use super::{ethtool::typed_at, prelude::*};
use crate::words::size;

pub(crate) const RULE: Rule = Rule::cause("black-hole", look).counted().over(&[
    "stalled",
    "retransmits",
    "datagram-loss",
    "mtu-mismatch",
]);

struct Lost<'a> {
    result: &'a ResultRecord,
    hole: &'a BlackHole,
    harm: Harm,
    device_mtu: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Harm {
    /// No trial could be measured.
    Fatal,
    /// The workload sends packets of this size, but some data arrived.
    Stalls,
    /// The workload sends packets of this size, but the probe may have lost only replies.
    Unknown,
    /// The workload sends no packets of this size.
    None,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let record = |id: &str| context.header.results.iter().find(|result| result.id == id);
    let device_mtu = |hole: &BlackHole| {
        let mut devices =
            context.measured.iter().flat_map(|measured| measured.trials()).flat_map(|trial| &trial.devices);
        let device = devices.find(|device| Some(&device.device) == hole.device.as_ref());
        hole.device_mtu.or(device.map(|device| device.mtu))
    };
    let fatal = context.ends.iter().filter_map(|end| {
        let hole = end.black_hole.as_ref()?;
        Some(Lost { result: record(&end.result)?, hole, harm: Harm::Fatal, device_mtu: device_mtu(hole) })
    });
    let measured = context.measured.iter().filter_map(|measured| {
        let hole = measured.trials().find_map(|trial| trial.path_check.black_hole.as_ref())?;
        let harm = match (measured.is_affected_by(hole), &hole.device) {
            (true, Some(_)) => Harm::Stalls,
            (true, None) => Harm::Unknown,
            (false, _) => Harm::None,
        };
        Some(Lost { result: measured.record, hole, harm, device_mtu: device_mtu(hole) })
    });
    let mut holes: BTreeMap<(&str, u32), Vec<Lost<'_>>> = BTreeMap::new();
    for lost in fatal.chain(measured) {
        holes.entry((place(&lost), lost.hole.carried)).or_default().push(lost);
    }
    holes.into_values().filter_map(|lost| finding(lost, context)).collect()
}

fn place<'a>(lost: &Lost<'a>) -> &'a str {
    lost.hole.device.as_deref().unwrap_or(&lost.result.path)
}

fn finding(mut all: Vec<Lost<'_>>, context: &Context<'_>) -> Option<Claim> {
    all.sort_by_key(|lost| lost.harm);
    let first = all.first()?;
    let BlackHole { carried, lost, device, .. } = first.hole;
    let place = first.hole.device.as_ref().map_or_else(|| place(first).into(), Phrase::device);
    let packets = if device.is_some() { "the client's packets" } else { "packets or their replies" };
    let label = Phrase::result(&first.result.id, &label(first.result));
    let lost = size(*lost);
    let (severity, consequence) = match first.harm {
        Harm::Fatal => {
            (Severity::Serious, phrase![label, " sends up to ", lost, " bytes and cannot be carried"])
        }
        Harm::Stalls => (
            Severity::Serious,
            phrase![label, " sends up to ", lost, " bytes, so only its smaller packets arrive"],
        ),
        Harm::Unknown => (Severity::Warning, phrase!["the sender's MTU is ", lost]),
        Harm::None => (
            Severity::Warning,
            phrase!["the sender's MTU is ", lost, ", but ", label, " has no packets of this size"],
        ),
    };
    let harmed = all.iter().filter(|lost| lost.harm != Harm::None);
    let above = size(*carried);
    let claim = Claim::new(
        severity,
        phrase![place, " loses ", packets, " above ", above, " bytes without an ICMP error"],
    )
    .detail(consequence)
    .further(why_silent(first))
    .with_results(harmed.map(|lost| lost.result.id.clone()))
    .affected()
    .with_evidence(all.iter().map(evidence))
    .with_limits(["A firewall that limits the rate of UDP packets could look the same."])
    .with_remedy(remedy(first, context));
    Some(claim)
}

fn label(result: &ResultRecord) -> String {
    result_label(&result.path, &result.levels, Some(&result.workload))
}

fn why_silent(lost: &Lost<'_>) -> Phrase {
    match (&lost.hole.device, lost.hole.device_mtu) {
        (Some(device), Some(mtu)) if mtu < lost.hole.lost => phrase![
            "The MTU of ",
            Phrase::device(device),
            " is ",
            size(mtu),
            ", so its host should report \"fragmentation needed\", but these ICMP errors do not reach the sender.",
        ],
        _ => Phrase::default(),
    }
}

fn evidence(lost: &Lost<'_>) -> Evidence {
    let BlackHole { carried, lost: size, device, .. } = lost.hole;
    let counted =
        device.as_ref().map(|device| format!("; {device} counted packets of the smaller size only"));
    Evidence::new(format!("packets that arrive, {}", label(lost.result)))
        .text("up to ")
        .rounded(f64::from(*carried), Unit::Bytes)
        .text(" bytes; none of ")
        .rounded(f64::from(*size), Unit::Bytes)
        .text(format!(" bytes{}", counted.unwrap_or_default()))
}

fn remedy(lost: &Lost<'_>, context: &Context<'_>) -> Remedy {
    let BlackHole { carried, lost: size, device, .. } = lost.hole;
    let mut paths = context.header.paths.iter().filter(|_| lost.hole.can_be_avoided());
    let path = paths.find(|path| path.name == lost.result.path);
    let lower = |end: &String| typed_at(end, |name| format!("ip link set {name} mtu {carried}"));
    let ends = path.map(|path| vec![lower(&path.from), lower(&path.to)]).unwrap_or_default();
    let raise = device.as_ref().filter(|_| lost.device_mtu.is_some_and(|mtu| mtu < *size));
    let raise = raise.map(|device| typed_at(device, |name| format!("ip link set {name} mtu {size}")));
    let action = match path {
        Some(_) => {
            format!(
                "Lower the MTU of both ends to {carried}, or raise it at the device that loses the packets"
            )
        }
        None => format!("Raise the MTU of the device that loses the packets: IPv6 needs {LEAST_IPV6_MTU}"),
    };
    Remedy::manual(action, ends.into_iter().chain(raise).collect())
    .explained("Let ICMP \"fragmentation needed\" (type 3, code 4), or ICMPv6 \"packet too big\" (type 2), pass every firewall on the path.")
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, watched};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || watched::black_hole(Some("sw:p2")),
        spares: || watched::black_hole(None),
        severity: Severity::Serious,
        says: &[
            "sw:p2 loses the client's packets above 1400 bytes without an ICMP error",
            "hole, bulk sends up to 1500 bytes",
            "The MTU of sw:p2 is 1400",
            "ip link set eth0 mtu 1400  # in a",
            "ip link set p2 mtu 1500  # in sw",
        ],
        change: None,
    };
}
