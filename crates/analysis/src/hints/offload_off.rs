//! `offload-off`: a device on the way builds or takes no large packets.

use findings::{Finding, Severity, SingleMeasurement};
use samples::DeviceState;

use super::{Advice, Hint, named};
use crate::{rules::ethtool, single_measurement::Single, words::list};

pub(crate) const HINT: Hint = Hint { id: "offload-off", look };

/// What a stream cannot well do without.
const WANTED: [&str; 3] = ["tx-tcp-segmentation", "tx-generic-segmentation", "rx-gro"];

/// The claim of a server's machine, which knows only what it has received and sent.
#[must_use]
pub fn offloads_off(device: &DeviceState) -> Option<Finding> {
    said(std::slice::from_ref(device)).map(|said| named(HINT.id, said))
}

fn look(single: &Single<'_>, solo: &SingleMeasurement) -> Option<Advice> {
    solo.outcome.as_ref()?;
    sends_many(single).then(|| said(single.devices)).flatten()
}

/// Whether packets follow each other so that they can be put together: a message of one packet has none to join.
fn sends_many(single: &Single<'_>) -> bool {
    let packet = single.devices.iter().map(|device| u64::from(device.mtu)).min().unwrap_or(u64::MAX);
    single.load.kind().fills_packets_of(packet)
}

fn said(devices: &[DeviceState]) -> Option<Advice> {
    let lacking: Vec<(&DeviceState, Vec<&str>)> =
        devices.iter().map(|device| (device, off(device))).filter(|(_, off)| !off.is_empty()).collect();
    let names: Vec<&str> = lacking.iter().map(|(device, _)| device.device.as_str()).collect();
    (!lacking.is_empty()).then(|| Advice {
        severity: Severity::Warning,
        claim: format!("Offloads of {} are off: each packet of a stream is handled by itself.", list(&names)),
        evidence: lacking
            .iter()
            .map(|(device, off)| (format!("off on {}", device.device), off.join(", ")))
            .collect(),
        caveats: vec!["Only a comparison shows what it costs; a scenario with a factor `offload` makes it."],
        action: "Switch them on, and read them back with ethtool -k: a driver may refuse one.".into(),
        commands: lacking.iter().map(|(device, off)| ethtool::switch_on(&device.device, off)).collect(),
    })
}

/// The wanted ones that the kernel reported, and reported off.
fn off(device: &DeviceState) -> Vec<&'static str> {
    // A pair hands large packets over whole: it is made with GRO off (veth_newlink in drivers/net/veth.c), and
    // needs none.
    let needless = |feature: &str| feature == "rx-gro" && device.kind == "veth";
    let is_off = |feature: &&str| device.features.get(*feature) == Some(&false) && !needless(feature);
    WANTED.into_iter().filter(is_off).collect()
}
