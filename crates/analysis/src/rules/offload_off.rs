//! `offload-off`: offloads are off on a device, which costs throughput.

use std::collections::{BTreeMap, BTreeSet};

use findings::{Difference, FactorEffect};
use samples::{DeviceState, PathRecord};
use workload::Metric;

use super::{ethtool, prelude::*, significance};
use crate::words::list_devices;

pub(crate) const RULE: Rule = Rule::cause("offload-off", look).over(&[
    "tunnel-cost",
    "cpu-per-byte",
    "softirq-bound",
    "generator-limited",
    "receiver-limited",
]);

const TUNNEL_KINDS: [&str; 2] = ["vxlan", "geneve"];
const WANTED: [&str; 3] = ["tx-tcp-segmentation", "tx-generic-segmentation", "rx-gro"];
/// For example, <https://github.com/projectcalico/calico/issues/11435>.
const TUNNELS: &str =
    "Some NICs lose the checksums of tunneled packets, and then checksum offload must stay off.";
const MUCH: f64 = 0.5;
/// If the slower result reaches this fraction of the faster one, the finding is only a note.
const LITTLE: f64 = 0.9;

/// Features that are disabled in the slower result but enabled in the faster one, by device.
type Off = BTreeMap<String, BTreeSet<String>>;

struct Loss<'a> {
    effect: &'a FactorEffect,
    slower: &'a ResultSummary,
    level: &'a str,
    keeps: f64,
    off: Off,
}

/// Makes one finding per factor and level, because a device on several paths is a single problem.
fn look(context: &Context<'_>) -> Vec<Claim> {
    let mut groups: BTreeMap<(&str, &str), Vec<Loss<'_>>> = BTreeMap::new();
    for loss in context.findings.effects.iter().filter_map(|effect| loss(effect, context)) {
        groups.entry((&loss.effect.factor, loss.level)).or_default().push(loss);
    }
    let looked = context.findings.effects.iter().filter(|effect| effect.metric == Metric::Throughput).count();
    let mut claims: Vec<(f64, Claim)> =
        groups.values().filter_map(|losses| finding(losses, looked)).collect();
    claims.sort_by(|one, other| one.0.total_cmp(&other.0));
    claims.into_iter().map(|(_, finding)| finding).chain(on_existing_hosts(context)).collect()
}

/// Examines existing hosts. Scenarios do not change their offloads, so there is nothing to compare.
fn on_existing_hosts(context: &Context<'_>) -> Vec<Claim> {
    let is_affected = |result: &&ResultSummary| {
        let is_bulk = result.metric == Metric::Throughput && PathRecord::exists(&result.layers);
        is_bulk && result.devices.iter().any(|device| !missing(device).is_empty())
    };
    let affected: Vec<&ResultSummary> = context.findings.results.iter().filter(is_affected).collect();
    let mut devices: Vec<DeviceState> = Vec::new();
    for device in affected.iter().flat_map(|result| &result.devices) {
        if !devices.iter().any(|known| known.device == device.device) {
            devices.push(device.clone());
        }
    }
    let about = |claim: Claim| claim.about(&affected, |result| *result).affected();
    of_devices(&devices).into_iter().map(about).collect()
}

pub(crate) fn of_devices(devices: &[DeviceState]) -> Vec<Claim> {
    let lacking: Vec<(&DeviceState, Vec<&str>)> =
        devices.iter().map(|device| (device, missing(device))).filter(|(_, off)| !off.is_empty()).collect();
    if lacking.is_empty() {
        return vec![];
    }
    let names: Vec<&str> = lacking.iter().map(|(device, _)| device.device.as_str()).collect();
    let seen = |(device, off): &(&DeviceState, Vec<&str>)| {
        Evidence::new(format!("off on {}", device.device)).text(off.join(", "))
    };
    let show = |(device, _): &(&DeviceState, Vec<&str>)| {
        ethtool::typed_at(&device.device, |name| format!("ethtool -k {name}"))
    };
    let finding = Claim::new(Severity::Note, phrase!["Offloads of ", list_devices(&names), " are off"])
        .detail("each packet of a stream is processed individually")
        .factual()
        .with_evidence(lacking.iter().map(seen))
        .with_limits([
            "The cost was not measured: there may be none, and the setting may even work around a \
                       driver bug.",
        ])
        .with_remedy(
            Remedy::manual(
                "Measure with offloads on and off before changing the settings permanently",
                lacking.iter().map(show).collect(),
            )
            .explained(TUNNELS),
        );
    vec![finding]
}

fn missing(device: &DeviceState) -> Vec<&'static str> {
    // A veth pair passes large packets on unsplit, so it does not need GRO and is created with GRO off (veth_newlink
    // in drivers/net/veth.c). A macvlan receives packets from the device below, which does GRO.
    let needless = |feature: &str| feature == "rx-gro" && ["veth", "macvlan"].contains(&device.kind.as_str());
    let is_off = |feature: &&str| device.features.get(*feature) == Some(&false) && !needless(feature);
    WANTED.into_iter().filter(is_off).collect()
}

fn loss<'a>(effect: &'a FactorEffect, context: &Context<'a>) -> Option<Loss<'a>> {
    let findings = context.findings;
    let (level, reference) = (findings.result(&effect.result)?, findings.result(&effect.reference_result)?);
    let (slower, faster, label, keeps) = match (effect.metric, effect.change.verdict) {
        (Metric::Throughput, Difference::Lower) => (level, reference, &effect.level, effect.change.ratio),
        (Metric::Throughput, Difference::Higher) => {
            (reference, level, &effect.reference, effect.change.ratio.recip())
        }
        _ => return None,
    };
    let off = switched_off(slower, faster);
    (!off.is_empty()).then_some(Loss { effect, slower, level: label, keeps, off })
}

fn switched_off(slower: &ResultSummary, faster: &ResultSummary) -> Off {
    let mut off = Off::new();
    for device in &slower.devices {
        let Some(other) = faster.devices.iter().find(|other| other.device == device.device) else { continue };
        let features =
            device.features.iter().filter(|(name, on)| !**on && other.features.get(*name) == Some(&true));
        let names: BTreeSet<String> = features.map(|(name, _)| name.clone()).collect();
        if !names.is_empty() {
            off.insert(device.device.clone(), names);
        }
    }
    off
}

fn finding(losses: &[Loss<'_>], looked: usize) -> Option<(f64, Claim)> {
    let worst = losses.iter().smallest(|one| one.keeps)?;
    let mut off = Off::new();
    for (device, features) in losses.iter().flat_map(|loss| &loss.off) {
        off.entry(device.clone()).or_default().extend(features.iter().cloned());
    }
    let claim = claim(worst, &off)
        .about(losses, |loss| loss.slower)
        .with_evidence(
            losses
                .iter()
                .map(|loss| evidence(loss.effect))
                .chain(off.iter().map(features))
                .chain(packets(worst.slower)),
        )
        .with_limits(limitations(worst, looked))
        .with_remedy(remedy(&off, worst.slower));
    Some((worst.keeps, claim))
}

fn limitations(worst: &Loss<'_>, looked: usize) -> Vec<String> {
    let software = "All lab devices are virtual: offloads mean fewer, larger packets. With a real NIC the gain can \
         be larger or smaller.";
    // A large loss is not due to chance, no matter how many comparisons were made.
    let many = if worst.keeps < LITTLE { None } else { significance::of_many(looked) };
    [software.to_owned()].into_iter().chain(many).collect()
}

fn severity(keeps: f64) -> Severity {
    match keeps {
        keeps if keeps < MUCH => Severity::Serious,
        keeps if keeps < LITTLE => Severity::Warning,
        _ => Severity::Note,
    }
}

/// The kernel reports the features, so even a small loss has an established cause.
fn claim(worst: &Loss<'_>, off: &Off) -> Claim {
    let names: Vec<&str> = off.keys().map(String::as_str).collect();
    let FactorEffect { factor, level, reference, path, workload, change, .. } = worst.effect;
    let compared =
        if worst.level == level { format!("compared with {reference}") } else { format!("with {level}") };
    Claim::new(
        severity(worst.keeps),
        phrase!["Offloads of ", list_devices(&names), format!(" are off with {factor}={}", worst.level)],
    )
    .detail(phrase![format!("{workload} over {path} is "), change, format!(" {compared}")])
    .factual()
}

fn evidence(effect: &FactorEffect) -> Evidence {
    let others: Vec<String> =
        effect.others.iter().map(|(factor, level)| format!(", {factor}={level}")).collect();
    Evidence::new(format!(
        "{}={} vs {} ({}, {}{})",
        effect.factor,
        effect.level,
        effect.reference,
        effect.path,
        effect.workload,
        others.concat()
    ))
    .ratio(&effect.change)
}

fn features((device, features): (&String, &BTreeSet<String>)) -> Evidence {
    let names: Vec<&str> = features.iter().map(String::as_str).collect();
    Evidence::new(format!("off on {device}, as reported by the kernel")).text(names.join(", "))
}

/// Segments per packet, if both devices and sockets were counted.
fn packets(slower: &ResultSummary) -> Option<Evidence> {
    let data = slower.packets.as_ref()?.data.as_ref()?;
    let cut = data.cut.as_ref().map(|cut| format!(", segmented at {}", cut.device)).unwrap_or_default();
    let evidence = Evidence::new(format!("segments per packet in {}", slower.label))
        .rounded(data.first, Unit::Count)
        .text(" at the sender, ")
        .rounded(data.last, Unit::Count)
        .text(format!(" at the receiver{cut}"));
    Some(evidence)
}

fn remedy(off: &Off, slower: &ResultSummary) -> Remedy {
    let is_tunnel = slower.devices.iter().any(|device| TUNNEL_KINDS.contains(&device.kind.as_str()));
    let caution = if is_tunnel { format!(" {TUNNELS}") } else { String::new() };
    let commands = off.iter().map(|(device, features)| {
        ethtool::switch_on(device, &features.iter().map(String::as_str).collect::<Vec<_>>())
    });
    Remedy {
        change: Some(Change::OffloadsOn { devices: off.keys().cloned().collect() }),
        ..Remedy::manual("Enable the offloads on each device's host", commands.collect())
            .explained(format!("Check with ethtool -k: a driver may refuse one.{caution}"))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::{fixtures::egress, rules::tests::Case};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || egress(6),
        spares: || egress(4),
        severity: Severity::Serious,
        says: &["node1:egress.vxlan", "ethtool -K egress.vxlan tso on gso on", "# in node1", "−70.0 % (−70"],
        change: Some("offloads-on"),
    };
}
