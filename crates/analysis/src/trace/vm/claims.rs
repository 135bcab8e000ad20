//! Findings about a running virtual machine that need no comparison.

mod devices;
mod machine;
mod queues;

use findings::{Evidence, VmSummary};

use crate::rule::{self, Claim, Subject};

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

enum Manager<'a> {
    Proxmox(&'a str),
    Libvirt(&'a str),
    Nobody,
}

impl<'a> Manager<'a> {
    fn of(summary: &'a VmSummary) -> Self {
        match (&summary.vm.id, &summary.vm.guest) {
            (Some(id), _) => Self::Proxmox(id),
            (None, Some(guest)) if summary.vm.libvirt => Self::Libvirt(guest),
            _ => Self::Nobody,
        }
    }
}

fn of_a_cpu(who: &str, cpus: f64) -> Evidence {
    Evidence::new(who).share(cpus).text(" of a CPU")
}
