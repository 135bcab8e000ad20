//! `offload-off`: a device on the path does not build or accept large packets.

use findings::{Evidence, Finding, Remedy, Severity};
use samples::DeviceState;

use super::{Claim, Rule, SingleTrial};
use crate::{rules::ethtool, single_measurement::Single, words::list};

pub(super) const RULE: Rule = Rule::cause("offload-off", look);

const WANTED: [&str; 3] = ["tx-tcp-segmentation", "tx-generic-segmentation", "rx-gro"];

#[must_use]
pub fn offloads_off(device: &DeviceState) -> Option<Finding> {
    RULE.findings(of_devices(std::slice::from_ref(device))).pop()
}

fn look(trial: &SingleTrial<'_>) -> Vec<Claim> {
    if trial.summary.outcome.is_none() || !sends_many(trial.single) {
        return vec![];
    }
    of_devices(trial.single.devices)
}

fn sends_many(single: &Single<'_>) -> bool {
    let packet = single.devices.iter().map(|device| u64::from(device.mtu)).min().unwrap_or(u64::MAX);
    single.load.kind().fills_packets_of(packet)
}

fn of_devices(devices: &[DeviceState]) -> Vec<Claim> {
    let lacking: Vec<(&DeviceState, Vec<&str>)> =
        devices.iter().map(|device| (device, off(device))).filter(|(_, off)| !off.is_empty()).collect();
    if lacking.is_empty() {
        return vec![];
    }
    let names: Vec<&str> = lacking.iter().map(|(device, _)| device.device.as_str()).collect();
    let seen = |(device, off): &(&DeviceState, Vec<&str>)| {
        Evidence::new(format!("off on {}", device.device)).text(off.join(", "))
    };
    let commands = lacking.iter().map(|(device, off)| ethtool::switch_on(&device.device, off)).collect();
    let finding = Claim::new(Severity::Warning, format!("Offloads of {} are off", list(&names)))
        .detail("each packet of a stream is processed individually")
        .with_evidence(lacking.iter().map(seen))
        .with_limits(["Only a comparison shows the cost, e.g. a scenario with an `offload` factor."])
        .with_remedy(Remedy::manual(
            "Turn them on and check with ethtool -k: a driver may refuse one",
            commands,
        ));
    vec![finding]
}

fn off(device: &DeviceState) -> Vec<&'static str> {
    // A veth pair passes large packets on whole. It is created with GRO off (veth_newlink in drivers/net/veth.c) and
    // does not need it.
    let needless = |feature: &str| feature == "rx-gro" && device.kind == "veth";
    let is_off = |feature: &&str| device.features.get(*feature) == Some(&false) && !needless(feature);
    WANTED.into_iter().filter(is_off).collect()
}
