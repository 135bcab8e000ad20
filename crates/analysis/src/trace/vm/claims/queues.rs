//! Findings about a device's queues: their number compared with the guest's CPUs, and the threads serving them.

use findings::{Phrase, Remedy, Severity, VmSummary, phrase};
use samples::{VmDevice, VmRole};

use super::{
    Claim, Rule,
    devices::{UNMEASURED, is_virtio, name, of_each, packets},
    of_a_cpu,
};

pub(super) const SINGLE: Rule = Rule::cause("single-queue-bound", |vm| of_each(vm, single));
pub(super) const TOO_MANY: Rule = Rule::cause("too-many-queues", |vm| of_each(vm, too_many));

/// A thread with this utilization is nearly saturated.
const FULL: f64 = 0.8;

fn single(summary: &VmSummary, device: &VmDevice) -> Option<Claim> {
    let cpus = summary.vm.cpus.filter(|cpus| *cpus > 1)?;
    if !is_virtio(device) || device.queues != 1 {
        return None;
    }
    let (given, carrier) = (device.unused_queues + 1, carrier(summary, device));
    let full = carrier.as_ref().is_some_and(|(_, busy)| *busy > FULL);
    let lead = match (full, given) {
        (true, _) => " uses one queue, and the thread that forwards its packets is saturated".to_owned(),
        (false, 1) => format!(" has one queue for {cpus} vCPUs"),
        (false, _) => format!(" has {given} queues, but the guest uses only one"),
    };
    let lead = phrase![Phrase::device(name(device)), lead];
    let idle = "The thread that forwards its packets is not saturated, so the queue is not the bottleneck at this load.";
    let carried = carrier.map(|(who, busy)| of_a_cpu(who, busy));
    let finding = Claim::new(Severity::warning_if(full), lead)
        .with_evidence(carried.into_iter().chain(packets(summary, device)))
        .with_limits([UNMEASURED].into_iter().chain((!full).then_some(idle)))
        .with_remedy(Remedy::manual(
            "Give the device more queues, up to one per vCPU, and enable them in the \
             guest",
            commands(summary, device, given, cpus),
        ));
    Some(finding)
}

fn too_many(summary: &VmSummary, device: &VmDevice) -> Option<Claim> {
    let cpus = summary.vm.cpus.filter(|cpus| device.queues > *cpus)?;
    let finding = Claim::new(
        Severity::Note,
        phrase![Phrase::device(name(device)), format!(" uses {} queues for {cpus} vCPUs", device.queues),],
    )
    .with_evidence(packets(summary, device))
    .with_limits([UNMEASURED])
    .with_remedy(Remedy::manual(
        "Enable one queue per vCPU in the guest",
        vec![format!("ethtool -L DEVICE combined {cpus}  # in the guest")],
    ));
    Some(finding)
}

/// Returns the kind of thread that forwards the device's packets, and the utilization of the busiest one.
fn carrier(summary: &VmSummary, device: &VmDevice) -> Option<(&'static str, f64)> {
    let (role, word) = match device.vhost? {
        true => (VmRole::Vhost, "the busiest vhost worker"),
        false => (VmRole::Main, "QEMU's main loop"),
    };
    let found = summary.roles.iter().find(|it| it.role == role)?;
    Some((word, found.busiest))
}

fn commands(summary: &VmSummary, device: &VmDevice, given: u32, wanted: u32) -> Vec<String> {
    let inside = |queues: u32| format!("ethtool -L DEVICE combined {queues}  # in the guest");
    if given > 1 {
        return vec![inside(given)];
    }
    let (queues, vectors) = (wanted.to_string(), (2 * wanted + 2).to_string());
    let netdev = device.netdev.as_deref().unwrap_or("net0");
    let values = [("netdev", netdev), ("number", queues.as_str()), ("vectors", vectors.as_str())];
    super::commands(summary, "multiqueue", &values).into_iter().chain([inside(wanted)]).collect()
}
