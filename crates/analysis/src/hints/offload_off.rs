//! `offload-off`: a device on the path does not build or accept large packets.

use findings::Finding;
use samples::DeviceState;

use super::{Claim, Rule, SingleTrial};
use crate::{rules::offload_off::of_devices, single_measurement::Single};

pub(super) const RULE: Rule = Rule::cause("offload-off", look);

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
