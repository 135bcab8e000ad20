//! The machines that the ends of a run's paths live in: namespaces, and virtual machines. Must not know what is measured
//! in them.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use machine::{Accelerator, Image, Kernel, Machine, MachineError, Namespace, Nic, Qemu};
use scenario::{HostName, Lab, Vm};
use topology::Topology;

use crate::error::RunError;

/// Machines that wait to be started, and what is known of them.
pub(crate) struct Machines {
    /// Each with its host.
    pub(crate) waiting: Vec<(HostName, Box<dyn Machine>)>,
    /// Why virtual machines among them are emulated, if any is.
    pub(crate) emulated: Option<String>,
}

/// The machines of `hosts`, whose agents are `program`.
pub(crate) fn of(
    hosts: &BTreeSet<&HostName>,
    lab: &Lab,
    topology: &Topology,
    program: &Path,
) -> Result<Machines, RunError> {
    let mut machines = Machines { waiting: Vec::new(), emulated: None };
    let mut monitors = None;
    for &host in hosts {
        let machine: Box<dyn Machine> = match lab.vm(host) {
            Some(vm) => {
                let monitors = match &mut monitors {
                    Some(monitors) => monitors,
                    none => none.insert(Monitors::ready(program)?),
                };
                machines.emulated.clone_from(&monitors.emulated);
                Box::new(monitors.machine(host, vm, topology)?)
            }
            None => {
                let Some(namespace) = topology.namespace(host) else { continue };
                let namespace = namespace
                    .try_clone()
                    .map_err(|source| MachineError::Start { host: host.to_string(), source })?;
                Box::new(Namespace::new(host.clone(), namespace, PathBuf::from(program)))
            }
        };
        machines.waiting.push((host.clone(), machine));
    }
    Ok(machines)
}

/// What of a lab to look around in is not there: what the kernel lacks, and guests that boot with their agents, of which
/// it has none.
pub(crate) fn absent(topology: &Topology, lab: &Lab) -> Vec<String> {
    topology.missing().iter().map(ToString::to_string).chain(unbooted(lab)).collect()
}

fn unbooted(lab: &Lab) -> impl Iterator<Item = String> {
    let vms = lab.hosts.iter().filter(|host| host.vm.is_some());
    vms.map(|host| format!("virtual machine `{}`: only `plumb run` boots it", host.name))
}

/// What all virtual machines have in common.
struct Monitors {
    accelerator: Accelerator,
    emulated: Option<String>,
    kernel: Kernel,
    image: Arc<Image>,
}

impl Monitors {
    fn ready(program: &Path) -> Result<Self, MachineError> {
        let (accelerator, emulated) = Accelerator::best();
        let kernel = Kernel::installed()?;
        let image = Arc::new(Image::build(&kernel, program, Qemu::MODULES, &[])?);
        Ok(Self { accelerator, emulated, kernel, image })
    }

    fn machine(&self, host: &HostName, vm: Vm, topology: &Topology) -> Result<Qemu, RunError> {
        let machine =
            Qemu::new(host.clone(), vm, self.accelerator, self.kernel.clone(), Arc::clone(&self.image));
        let Some(tap) = topology.tap(host) else { return Ok(machine) };
        let tap = tap.map_err(|error| MachineError::Qemu { host: host.to_string(), source: error.into() })?;
        Ok(machine.with_nic(Nic { queues: tap.queues, mac: tap.mac }))
    }
}

#[cfg(test)]
mod tests {
    use scenario::{Scenario, builtin};

    use super::*;

    #[test]
    fn of_a_lab_to_look_around_in_each_guest_that_would_boot_is_told() {
        let told = |name: &str| {
            let shipped = builtin::find(name).expect("shipped");
            unbooted(&Scenario::parse(name, shipped.text).expect("parses").lab).collect::<Vec<_>>()
        };
        assert_eq!(told("bridge-queues"), [""; 0]);
        assert_eq!(
            told("bridge-multiqueue"),
            ["client", "server"].map(|vm| format!("virtual machine `{vm}`: only `plumb run` boots it"))
        );
    }
}
