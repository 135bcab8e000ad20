//! Prepares the machines at the ends of paths: namespaces, virtual machines and existing hosts.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use machine::{
    Accelerator, AttachError, Firecracker, FirecrackerError, Image, Kernel, Machine, MachineError, Member,
    NamedTap, Namespace, Nic, ProgramCopy, Qemu, Ssh, Vmlinux,
};
use scenario::{Access, Endpoint, Fault, GuestKernel, HostName, Lab, Monitor, Vm};
use topology::Topology;
use workload::BalloonMethod;

use crate::{error::RunError, request::Request, stop::Stop};

/// Kernel modules for guests with a `conntrack-full` fault.
const TRACKING: &[&str] = &["nft_chain_nat", "nft_masq"];

pub(crate) struct Machines {
    pub(crate) waiting: Vec<(HostName, Box<dyn Machine>)>,
    pub(crate) emulated: Option<String>,
}

pub(crate) fn prepare(
    hosts: &BTreeSet<&HostName>,
    topology: &Topology,
    request: &Request<'_>,
    stop: &Stop,
) -> Result<Machines, RunError> {
    let mut monitors = Monitors {
        request,
        topology,
        stop,
        program: None,
        accelerator: None,
        qemu: BTreeMap::new(),
        firecracker: BTreeMap::new(),
    };
    let mut waiting: Vec<(HostName, Box<dyn Machine>)> = Vec::new();
    for &host in hosts {
        let machine: Box<dyn Machine> = match request.scenario.lab.vm(host) {
            Some(vm) if vm.monitor == Monitor::Firecracker => Box::new(monitors.firecracker(host, vm)?),
            Some(vm) => Box::new(monitors.qemu(host, vm)?),
            None if let Some(existing) = request.scenario.lab.existing(host) => match &existing.access {
                Access::Local => Box::new(Namespace::own(host.clone(), request.agent.clone())),
                Access::Ssh { destination } => Box::new(monitors.ssh(host, destination)?),
                Access::Member { name } => Box::new(member(request, host, name)?),
                Access::Endpoint(endpoint) => Box::new(attached(request, host, endpoint)?),
            },
            None => {
                let Some(namespace) = topology.namespace(host) else { continue };
                let namespace = namespace
                    .try_clone()
                    .map_err(|source| MachineError::Start { host: host.to_string(), source })?;
                Box::new(Namespace::new(host.clone(), namespace, request.agent.clone()))
            }
        };
        waiting.push((host.clone(), machine));
    }
    Ok(Machines { waiting, emulated: monitors.accelerator.and_then(|(_, emulated)| emulated) })
}

fn member(request: &Request<'_>, host: &HostName, name: &str) -> Result<Member, RunError> {
    let reason =
        || format!("host {host} requires fleet member `{name}`, but this run has no connection to the fleet");
    let fleet = request.fleet.as_ref().ok_or_else(|| RunError::Lacks { reason: reason() })?;
    Ok(Member::new(host.clone(), name.to_owned(), Arc::clone(fleet), request.id.to_string()))
}

fn attached(request: &Request<'_>, host: &HostName, endpoint: &Endpoint) -> Result<Namespace, RunError> {
    let reason = |error: AttachError| RunError::Lacks { reason: format!("host {host}: {error}") };
    let opened = request.attachments.endpoints.get(host).ok_or_else(|| RunError::Lacks {
        reason: format!(
            "host {host} is at {endpoint}, and this run cannot enter endpoints of the machine that started it"
        ),
    })?;
    opened.check(endpoint).map_err(reason)?;
    let namespace = opened.namespace().try_clone();
    let namespace = namespace.map_err(|source| MachineError::Start { host: host.to_string(), source })?;
    let cgroups = if request.attachments.as_workload { opened.cgroups() } else { Vec::new() };
    Ok(Namespace::new(host.clone(), namespace, request.agent.clone()).within(cgroups))
}

/// Lists what a persistent lab lacks: unsupported devices, and virtual machines (only runs boot them).
pub(crate) fn absent(topology: &Topology, lab: &Lab) -> Vec<String> {
    topology.missing().iter().map(ToString::to_string).chain(unbooted(lab)).collect()
}

fn unbooted(lab: &Lab) -> impl Iterator<Item = String> {
    let vms = lab.hosts.iter().filter(|host| host.vm.is_some());
    vms.map(|host| format!("virtual machine `{}`: only `plumb run` boots it", host.name))
}

struct Monitors<'a> {
    request: &'a Request<'a>,
    topology: &'a Topology,
    stop: &'a Stop,
    program: Option<Arc<ProgramCopy>>,
    /// QEMU's accelerator, and the reason if QEMU emulates the CPU.
    accelerator: Option<(Accelerator, Option<String>)>,
    qemu: BTreeMap<GuestKernel, (Kernel, Arc<Image>)>,
    firecracker: BTreeMap<GuestKernel, ForFirecracker>,
}

#[derive(Clone)]
struct ForFirecracker {
    kernel: Arc<Vmlinux>,
    image: Arc<Image>,
}

impl Monitors<'_> {
    fn qemu(&mut self, host: &HostName, vm: &Vm) -> Result<Qemu, RunError> {
        let (accelerator, _) = self.accelerator.get_or_insert_with(Accelerator::best);
        let accelerator = *accelerator;
        let (kernel, image) = match self.qemu.get(&vm.kernel) {
            Some(known) => known.clone(),
            None => {
                let vms = self.request.scenario.lab.hosts.iter().filter_map(|host| host.vm.as_ref());
                let vms = vms.filter(|other| other.kernel == vm.kernel);
                let of_balloons: BTreeSet<BalloonMethod> = vms.filter_map(|vm| vm.balloon).collect();
                let further = of_balloons.into_iter().flat_map(Qemu::modules_of).copied();
                let modules: Vec<&str> = Qemu::MODULES.iter().copied().chain(further).collect();
                let kernel = kernel(host, vm)?;
                (kernel.clone(), self.image(&kernel, &modules)?)
            }
        };
        self.qemu.insert(vm.kernel.clone(), (kernel.clone(), Arc::clone(&image)));
        let machine = Qemu::new(host.clone(), vm.clone(), accelerator, kernel, image);
        let Some(tap) = self.topology.tap(host) else { return Ok(machine) };
        let tap = tap.map_err(|error| MachineError::Qemu { host: host.to_string(), source: error.into() })?;
        Ok(machine.with_nic(Nic { queues: tap.queues, mac: tap.mac }))
    }

    fn firecracker(&mut self, host: &HostName, vm: &Vm) -> Result<Firecracker, RunError> {
        let known = match self.firecracker.get(&vm.kernel) {
            Some(known) => known.clone(),
            None => {
                let kernel = kernel(host, vm)?;
                let image = self.image(&kernel, Firecracker::MODULES)?;
                let kernel = Arc::new(kernel.uncompressed().map_err(MachineError::from)?);
                ForFirecracker { kernel, image }
            }
        };
        self.firecracker.insert(vm.kernel.clone(), known.clone());
        let ForFirecracker { kernel, image } = known;
        let machine = Firecracker::new(host.clone(), vm.clone(), kernel, image)
            .program(self.request.firecracker.clone());
        let refused = |source: FirecrackerError| MachineError::Firecracker { host: host.to_string(), source };
        let Some(tap) = self.topology.tap(host) else { return Ok(machine) };
        let tap = tap.map_err(|error| refused(error.into()))?;
        let Some(namespace) = self.topology.namespace(&tap.at.host) else { return Ok(machine) };
        let namespace = namespace.try_clone().map_err(|error| refused(error.into()))?;
        Ok(machine.with_tap(NamedTap { device: tap.at.device.to_string(), namespace, mac: tap.mac }))
    }

    fn ssh(&mut self, host: &HostName, destination: &str) -> Result<Ssh, MachineError> {
        let program = match &self.program {
            Some(program) => Arc::clone(program),
            None => Arc::new(ProgramCopy::of(&self.request.agent)?),
        };
        self.program = Some(Arc::clone(&program));
        let machine = Ssh::new(host.clone(), destination.to_owned(), program, self.stop.flag());
        Ok(if self.request.hosts.cache { machine } else { machine.without_cache() })
    }

    fn image(&self, kernel: &Kernel, modules: &[&str]) -> Result<Arc<Image>, MachineError> {
        let modules = [modules, self.modules_of_faults()].concat();
        Ok(Arc::new(Image::build(kernel, &self.request.agent, &modules, &[])?))
    }

    fn modules_of_faults(&self) -> &'static [&'static str] {
        let settings = self.request.plan.results.iter().flat_map(|result| result.devices.values());
        let mut faults = settings.filter_map(|settings| settings.fault.as_ref()?.fault);
        let tracks = |fault| matches!(fault, Fault::ConntrackFull { .. });
        if faults.any(tracks) { TRACKING } else { &[] }
    }
}

fn kernel(host: &HostName, vm: &Vm) -> Result<Kernel, RunError> {
    match &vm.kernel {
        GuestKernel::Newest => Ok(Kernel::installed().map_err(MachineError::from)?),
        chosen => Kernel::chosen(chosen, None).map_err(|error| {
            let reason = format!("virtual machine `{host}` cannot have `kernel = \"{chosen}\"`: {error}");
            RunError::Lacks { reason }
        }),
    }
}

#[cfg(test)]
mod tests {
    use scenario::{Scenario, builtin};

    use super::*;

    #[test]
    fn lists_virtual_machines_missing_from_persistent_lab() {
        let missing = |name: &str| {
            let shipped = builtin::find(name).expect("shipped");
            unbooted(&Scenario::parse(name, shipped.text).expect("parses").lab).collect::<Vec<_>>()
        };
        assert_eq!(missing("bridge-queues"), [""; 0]);
        assert_eq!(
            missing("bridge-multiqueue"),
            ["client", "server"].map(|vm| format!("virtual machine `{vm}`: only `plumb run` boots it"))
        );
    }
}
