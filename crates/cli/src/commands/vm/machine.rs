//! The virtual machine of `plumb vm run`, with QEMU or Firecracker.

use std::{path::PathBuf, sync::Arc};

use ::lab::GuestNetwork;
use clap::Args;
use machine::{Accelerator, Firecracker, Image, Kernel, Machine, Qemu};
use scenario::{HostName, Monitor, Vm};

use crate::{
    program::PROGRAM,
    value_parsers::{Word, one_of},
};

#[derive(Debug, Args)]
pub(super) struct MonitorArgs {
    /// VMM to use. Firecracker needs KVM
    #[arg(long, value_parser = one_of(MONITORS), default_value = "qemu")]
    monitor: Monitor,
    /// Firecracker binary [default: firecracker on the PATH]
    #[arg(long, value_name = "PATH")]
    firecracker: Option<PathBuf>,
}

const MONITORS: &[Word<Monitor>] =
    &[("qemu", Monitor::Qemu, "QEMU"), ("firecracker", Monitor::Firecracker, "Firecracker")];

pub(crate) struct Booting {
    pub(crate) machine: Box<dyn Machine>,
    pub(crate) accelerator: Accelerator,
    pub(crate) emulated_reason: Option<String>,
}

impl MonitorArgs {
    pub(super) fn monitor(&self) -> Monitor {
        self.monitor
    }

    pub(super) fn booting(
        &self,
        (host, vm): (HostName, &Vm),
        kernel: Kernel,
        network: Option<&GuestNetwork>,
        requested: Option<Accelerator>,
    ) -> anyhow::Result<Booting> {
        match vm.monitor {
            Monitor::Qemu => qemu((host, vm), kernel, network, requested),
            Monitor::Firecracker => self.firecracker((host, vm), &kernel, network),
        }
    }

    fn firecracker(
        &self,
        (host, vm): (HostName, &Vm),
        kernel: &Kernel,
        network: Option<&GuestNetwork>,
    ) -> anyhow::Result<Booting> {
        if let Some(lack) = Firecracker::unusable(self.firecracker.as_deref()) {
            return Err(lack.into());
        }
        let image = Image::build(kernel, PROGRAM.as_ref(), Firecracker::MODULES, &[])?;
        let kernel = Arc::new(kernel.uncompressed()?);
        let mut machine = Firecracker::new(host, vm.clone(), kernel, Arc::new(image));
        if let Some(network) = network {
            machine = machine.with_tap(network.named_tap()?);
        }
        let machine = Box::new(machine.program(self.firecracker.clone()));
        Ok(Booting { machine, accelerator: Accelerator::Kvm, emulated_reason: None })
    }
}

pub(crate) fn qemu(
    (host, vm): (HostName, &Vm),
    kernel: Kernel,
    network: Option<&GuestNetwork>,
    requested: Option<Accelerator>,
) -> anyhow::Result<Booting> {
    let (accelerator, emulated_reason) = match requested {
        Some(accelerator) => (accelerator.checked()?, None),
        None => Accelerator::best(),
    };
    let image = Image::build(&kernel, PROGRAM.as_ref(), Qemu::MODULES, &[])?;
    let mut machine = Qemu::new(host, vm.clone(), accelerator, kernel, Arc::new(image));
    if let Some(network) = network {
        machine = machine.with_nic(network.nic()?);
    }
    Ok(Booting { machine: Box::new(machine), accelerator, emulated_reason })
}
