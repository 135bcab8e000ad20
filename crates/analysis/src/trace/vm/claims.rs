//! Findings about a running virtual machine that need no comparison.

mod devices;
mod machine;
mod queues;

use std::collections::BTreeSet;

use findings::{Evidence, VmSummary};

use crate::{
    remedies,
    rule::{self, Claim, Subject},
};

impl Subject for VmSummary {
    type Of<'a> = Self;
}

type Rule = rule::Rule<VmSummary>;

pub(super) const ALL: &[Rule] = &[
    machine::EMULATED,
    machine::WAITING_FOR_CPUS,
    machine::OUT_OF_QUOTA,
    devices::VHOST_OFF,
    queues::SINGLE,
    queues::TOO_MANY,
    devices::OFFLOAD_OFF,
    devices::MTU_MISMATCH,
];

fn commands(summary: &VmSummary, setting: &str, values: &[(&str, &str)]) -> Vec<String> {
    let (platform, named) = match (&summary.vm.id, &summary.vm.guest) {
        (Some(id), _) => ("Proxmox VE", Some(("vmid", id.as_str()))),
        (None, Some(guest)) if summary.vm.libvirt => ("libvirt", Some(("guest", guest.as_str()))),
        _ => (remedies::LINUX, None),
    };
    let values: Vec<(&str, &str)> = values.iter().copied().chain(named).collect();
    remedies::commands(&BTreeSet::from([platform]), setting, &values)
}

fn of_a_cpu(who: &str, cpus: f64) -> Evidence {
    Evidence::new(who).share(cpus).text(" of a CPU")
}
