//! `mtu-mismatch`: a path carries less than the MTU of its devices, its MTU varies, or a device of an existing path
//! has a smaller MTU than the sender.

use std::collections::BTreeMap;

use samples::{DeviceState, PathRecord};
use workload::Direction;

use super::{ethtool, prelude::*};
use crate::words::size;

pub(crate) const RULE: Rule = Rule::cause("mtu-mismatch", look);

struct Mismatch<'a> {
    result: &'a ResultSummary,
    carried: u32,
    at_best: Option<u32>,
    promised: Option<u32>,
    ends: Option<Vec<String>>,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let results = context.findings.results.iter().zip(context.measured);
    let found: Vec<Mismatch<'_>> =
        results.filter_map(|(result, measured)| mismatch(result, measured)).collect();
    found
        .first()
        .map(|first| finding(first, &found))
        .into_iter()
        .chain(smaller_than_sender(context))
        .collect()
}

/// On existing paths, the probe before each trial tests only the MTU of the ends, so it misses a smaller MTU in
/// between.
fn smaller_than_sender(context: &Context<'_>) -> Vec<Claim> {
    let mut paths: BTreeMap<&str, Vec<Sent<'_>>> = BTreeMap::new();
    for (result, measured) in context.results().filter(|(result, _)| PathRecord::exists(&result.layers)) {
        let Some(sender) = sender(result, measured) else { continue };
        if result.devices.iter().any(|device| device.mtu < sender.mtu) {
            paths.entry(&result.path).or_default().push((result, sender));
        }
    }
    paths.into_values().filter_map(|found| smaller_on_path(&found)).collect()
}

type Sent<'a> = (&'a ResultSummary, &'a DeviceState);

/// Returns the sending end's device, or the one with the larger MTU if both ends send.
fn sender<'a>(result: &'a ResultSummary, measured: &Observations<'_>) -> Option<&'a DeviceState> {
    let (client, server) = (result.devices.first()?, result.devices.last()?);
    Some(match measured.asked().map_or(Direction::Forward, |load| load.direction) {
        Direction::Forward => client,
        Direction::Reverse => server,
        Direction::Both => [server, client].into_iter().max_by_key(|device| device.mtu)?,
    })
}

fn smaller_on_path(found: &[Sent<'_>]) -> Option<Claim> {
    let (result, sender) = *found.first()?;
    let mtu = sender.mtu;
    let smaller = || result.devices.iter().filter(|device| device.mtu < mtu);
    let least = smaller().min_by_key(|device| device.mtu)?;
    let raise = |device: &DeviceState| {
        ethtool::typed_at(&device.device, |name| format!("ip link set {name} mtu {mtu}"))
    };
    let lead = phrase![
        Phrase::device(&least.device),
        " has an MTU of ",
        size(least.mtu),
        ", but ",
        Phrase::device(&sender.device),
        " sends packets of up to ",
        size(mtu),
        " bytes",
    ];
    let claim = Claim::new(Severity::Warning, lead)
        .detail("larger packets are lost or fragmented there")
        .about(found, |(result, _)| *result)
        .affected()
        .with_evidence(smaller().map(|device| {
            let evidence = Evidence::new(format!("MTU of {}", device.device));
            evidence.rounded(f64::from(device.mtu), Unit::Bytes).text(" bytes")
        }))
        .with_remedy(Remedy::manual("Raise the MTU of these devices", smaller().map(raise).collect()));
    Some(claim)
}

fn mismatch<'a>(result: &'a ResultSummary, measured: &Observations<'_>) -> Option<Mismatch<'a>> {
    let carried = result.path_mtu?;
    let most = measured.trials().filter_map(|trial| trial.path_check.mtu).max();
    let least = result.devices.iter().map(|device| device.mtu).min();
    let at_best = most.filter(|most| *most > carried);
    let promised = least.filter(|least| *least > carried);
    let ends = measured.path.filter(|path| !path.from.is_empty() && !path.to.is_empty());
    let ends = ends.map(|path| vec![path.from.clone(), path.to.clone()]);
    (at_best.is_some() || promised.is_some()).then_some(Mismatch { result, carried, at_best, promised, ends })
}

fn finding(first: &Mismatch<'_>, found: &[Mismatch<'_>]) -> Claim {
    Claim::new(
        Severity::Warning,
        phrase![
            format!("{} passes only ", first.result.path),
            size(first.carried),
            format!(" bytes unfragmented{}", expected(first)),
        ],
    )
    .about(found, |mismatch| mismatch.result)
    .affected()
    .with_evidence(found.iter().map(evidence))
    .with_limits(["A probe packet that is lost for another reason looks oversized."])
    .with_remedy(remedy(first))
}

/// In a lab, both ends can use the probed MTU, so that they send no larger packets.
fn remedy(first: &Mismatch<'_>) -> Remedy {
    Remedy {
        change: first.ends.clone().map(|devices| Change::Mtu { devices, mtu: first.carried }),
        ..Remedy::manual(
            format!(
                "Set the same MTU on every device of the path of {}, less 50 bytes inside a \
             VXLAN tunnel",
                list(&[first.result.path.as_str()])
            ),
            vec!["ip -d link".into(), "tracepath -n ADDRESS".into()],
        )
        .explained("Allow ICMP 'fragmentation needed'.")
    }
}

fn expected(mismatch: &Mismatch<'_>) -> String {
    match (mismatch.promised, mismatch.at_best) {
        (Some(promised), _) => format!(", although every device has at least {promised}"),
        (None, Some(best)) => format!(" in one trial and {best} in another"),
        (None, None) => String::new(),
    }
}

fn evidence(mismatch: &Mismatch<'_>) -> Evidence {
    Evidence::new(format!("largest unfragmented packet, {}", mismatch.result.label))
        .rounded(f64::from(mismatch.carried), Unit::Bytes)
        .text(format!(" bytes{}", expected(mismatch)))
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::mtu(1400),
        spares: || made::mtu(1450),
        severity: Severity::Warning,
        says: &["1400 bytes", "at least 1450"],
        change: Some("mtu"),
    };
}
