//! The machine that `plumb vm run` boots: of QEMU or of Firecracker. Must not know what is asked of its guest.

use std::{path::PathBuf, sync::Arc};

use ::lab::GuestNetwork;
use clap::Args;
use machine::{Accelerator, Firecracker, Image, Kernel, Machine, Qemu};
use scenario::{HostName, Monitor, Vm};

use crate::{
    commands::PROGRAM,
    value_parsers::{Word, one_of},
};

/// Flags that say what runs a guest.
#[derive(Debug, Args)]
pub(super) struct MonitorArgs {
    /// What runs the guest; Firecracker needs KVM
    #[arg(long, value_parser = one_of(MONITORS), default_value = "qemu")]
    monitor: Monitor,
    /// The program that runs guests of Firecracker [default: firecracker on the PATH]
    #[arg(long, value_name = "PATH")]
    firecracker: Option<PathBuf>,
}

const MONITORS: &[Word<Monitor>] =
    &[("qemu", Monitor::Qemu, "QEMU"), ("firecracker", Monitor::Firecracker, "Firecracker")];

/// A machine that waits to be started.
pub(crate) struct Booting {
    pub(crate) machine: Box<dyn Machine>,
    /// What runs its guest's instructions.
    pub(crate) accelerator: Accelerator,
    /// Why they are emulated, if nobody asked for that.
    pub(crate) emulated_because: Option<String>,
}

impl MonitorArgs {
    pub(super) fn monitor(&self) -> Monitor {
        self.monitor
    }

    /// The machine `vm` of `host`, which will boot `kernel`; with what was asked to run its instructions.
    pub(super) fn booting(
        &self,
        (host, vm): (HostName, &Vm),
        kernel: Kernel,
        network: Option<&GuestNetwork>,
        asked: Option<Accelerator>,
    ) -> anyhow::Result<Booting> {
        match vm.monitor {
            Monitor::Qemu => qemu((host, vm), kernel, network, asked),
            Monitor::Firecracker => self.firecracker((host, vm), &kernel, network),
        }
    }

    fn firecracker(
        &self,
        (host, vm): (HostName, &Vm),
        kernel: &Kernel,
        network: Option<&GuestNetwork>,
    ) -> anyhow::Result<Booting> {
        if let Some(lack) = Firecracker::lacks(self.firecracker.as_deref()) {
            return Err(lack.into());
        }
        let image = Image::build(kernel, PROGRAM.as_ref(), Firecracker::MODULES, &[])?;
        let kernel = Arc::new(kernel.uncompressed()?);
        let mut machine = Firecracker::new(host, vm.clone(), kernel, Arc::new(image));
        if let Some(network) = network {
            machine = machine.with_tap(network.named_tap()?);
        }
        let machine = Box::new(machine.program(self.firecracker.clone()));
        Ok(Booting { machine, accelerator: Accelerator::Kvm, emulated_because: None })
    }
}

/// A machine of QEMU that waits to be started; what runs its instructions is chosen where nothing was asked for.
pub(crate) fn qemu(
    (host, vm): (HostName, &Vm),
    kernel: Kernel,
    network: Option<&GuestNetwork>,
    asked: Option<Accelerator>,
) -> anyhow::Result<Booting> {
    let (accelerator, emulated_because) = match asked {
        Some(accelerator) => (accelerator.checked()?, None),
        None => Accelerator::best(),
    };
    let image = Image::build(&kernel, PROGRAM.as_ref(), Qemu::MODULES, &[])?;
    let mut machine = Qemu::new(host, vm.clone(), accelerator, kernel, Arc::new(image));
    if let Some(network) = network {
        machine = machine.with_nic(network.nic()?);
    }
    Ok(Booting { machine: Box::new(machine), accelerator, emulated_because })
}
