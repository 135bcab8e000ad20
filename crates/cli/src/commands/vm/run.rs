//! `plumb vm run`: one guest from this binary and a kernel of the host's packages, with no disk image.

use std::path::PathBuf;

use ::lab::{GuestNetwork, Introduction, Stop, introduce};
use anyhow::Context;
use clap::Args;
use machine::{Accelerator, GuestError, Kernel, Rights};
use scenario::{Board, GuestKernel, HostName, Monitor, Vm};
use units::{Bytes, Nanos};

use super::{
    document::{Document, Guest, Network},
    machine::{Booting, MonitorArgs},
};
use crate::{
    amount,
    commands::{TOOL, run::probe},
    exit::Exit,
    failure::{Misuse, NoGuest, NoRights},
    interrupt, output,
    value_parsers::{Word, one_of},
};

/// What errors and lists of processes call the guest.
const NAME: &str = "guest";
/// That of Ethernet.
const USUAL_MTU: u32 = 1500;
/// `vcpu_count` in the description of Firecracker's interface.
const MOST_FIRECRACKER_VCPUS: u32 = 32;

/// Flags of `plumb vm run`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    monitor: MonitorArgs,
    /// CPUs of the guest
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = vcpus())]
    vcpus: u32,
    /// Memory of the guest
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = amount::size)]
    memory: Bytes,
    /// What its devices are attached to, with QEMU [default: q35]
    #[arg(long, value_parser = one_of(BOARDS))]
    board: Option<Board>,
    /// A network device with so many queues in each direction, at most one a CPU [default: 1 with --vhost or --mtu,
    /// otherwise no device]
    #[arg(long, value_name = "N", value_parser = vcpus())]
    queues: Option<u32>,
    /// A network device whose packets the host's kernel moves (vhost-net), or QEMU
    #[arg(long, value_parser = one_of(SWITCH))]
    vhost: Option<bool>,
    /// A network device of this MTU [default with a device: 1500]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(576..=65535))]
    mtu: Option<u32>,
    /// What runs its instructions: the CPU's virtualisation, or emulation [default: what this machine has]
    #[arg(long, value_parser = one_of(ACCELERATORS))]
    accel: Option<Accelerator>,
    /// Kernel to boot: a file (a bzImage), or an installed release, e.g. `6.12` [default: PLUMB_GUEST_KERNEL, or the newest
    /// of /boot, one for virtual machines first]
    #[arg(long, value_name = "KERNEL")]
    kernel: Option<GuestKernel>,
    /// Its modules: the folder with modules.dep [default: those of the kernel's release in /lib/modules]
    #[arg(long, value_name = "FOLDER", requires = "kernel")]
    modules: Option<PathBuf>,
    /// Try these probes in the guest, as cpu,syscalls,packet-way; or none
    #[arg(long, value_name = "PROBES", default_value = "all", value_parser = probe::chosen)]
    probe: probe::Chosen,
    /// Print a JSON document instead of a table
    #[arg(short = 'J', long)]
    json: bool,
}

const AFTER_HELP: &str = "\
The guest's file system is made in memory: this program and the kernel's modules for virtio. The guest has no disk \
and no shell; it is gone when this command ends, however it ends. It needs qemu-system-x86_64 and an installed kernel \
(`apt-get install qemu-system-x86 linux-image-cloud-amd64`), and no root. With --monitor firecracker it needs that \
program instead of QEMU, KVM, and root or a user namespace.

With --queues, --vhost or --mtu it has a network device, whose other side is a tap device in a network namespace made for \
it. What guest and host then say of it is printed: queues, rings, MTU, offloads, and what driver and QEMU agreed on. That \
needs root, or a host that allows user namespaces.

Exit status: 0 it ran; 1 it did not; 3 this machine lacks what is needed; 64 usage error; 130 interrupted.";

const BOARDS: &[Word<Board>] = &[
    ("q35", Board::Q35, "A PC with PCI Express"),
    ("microvm", Board::Microvm, "QEMU's minimal machine without PCI"),
];
const SWITCH: &[Word<bool>] = &[("on", true, "The host's kernel"), ("off", false, "QEMU")];
const ACCELERATORS: &[Word<Accelerator>] =
    &[("kvm", Accelerator::Kvm, "The CPU's own virtualisation"), ("tcg", Accelerator::Tcg, "Emulation")];

fn vcpus() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(Vm::MOST_VCPUS))
}

/// Boots a guest, lets it tell what it is, and ends it.
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    let vm = args.vm()?;
    let mtu = args.mtu_of_device();
    if mtu.is_some() || vm.monitor == Monitor::Firecracker {
        // Before anything starts a thread: a user namespace can only be entered by a process with one.
        Rights::acquire().context(NoRights)?;
    }
    let stop = Stop::new();
    interrupt::asks(&stop.flag())?;
    let kernel = args.kernel()?;
    let host = HostName::new(NAME);
    let network = mtu.map(|mtu| GuestNetwork::raise(&host, &vm, mtu)).transpose()?;
    let asked = args.accel;
    let booting = args.monitor.booting((host.clone(), &vm), kernel, network.as_ref(), asked)?;
    let Booting { machine, accelerator, emulated_because } = booting;
    let known = introduce((host, machine), network.as_ref(), TOOL, &stop, &args.probe.0).context(NoGuest)?;
    let Introduction { environment, devices, missing, booted_within, ready_within, hung_starts } = known;
    let document = Document {
        schema: Document::SCHEMA,
        vm: Guest {
            monitor: vm.monitor,
            board: vm.monitor.has_boards().then_some(vm.board),
            vcpus: vm.vcpus,
            memory: vm.memory,
        },
        network: network.map(|_| Network { monitor: vm.monitor, vhost: vm.vhost, devices }),
        accelerator: accelerator.word(),
        emulated_because,
        booted_within: booted_within.map(Nanos::from),
        ready_within: Nanos::from(ready_within),
        hung_starts,
        environment,
        probes: args.probe.0.iter().map(|probe| probe.word()).collect(),
        missing_probes: missing,
    };
    let text = if args.json { serde_json::to_string_pretty(&document)? + "\n" } else { document.table() };
    output::text(text)?;
    Ok(Exit::Success)
}

impl RunArgs {
    fn vm(&self) -> anyhow::Result<Vm> {
        if self.memory < Vm::LEAST_MEMORY {
            let least = Vm::LEAST_MEMORY;
            return Err(
                Misuse::new(format!("--memory {}: a guest needs {least} at least", self.memory)).into()
            );
        }
        let queues = self.queues.unwrap_or(1);
        if queues > self.vcpus {
            let message = format!("--queues {queues}: a guest uses at most one queue a CPU");
            return Err(Misuse::new(message).hint(format!("give it as many: --vcpus {queues}")).into());
        }
        let monitor = self.monitor.monitor();
        if monitor == Monitor::Firecracker {
            self.fits_firecracker()?;
        }
        let board = self.board.unwrap_or(Board::Q35);
        let vhost = self.vhost == Some(true);
        Ok(Vm { monitor, board, vcpus: self.vcpus, memory: self.memory, queues, vhost, ..Vm::default() })
    }

    fn fits_firecracker(&self) -> Result<(), Misuse> {
        let wrong = [
            (self.board.is_some(), "--board: Firecracker has one board of its own"),
            (self.vhost == Some(true), "--vhost on: Firecracker moves packets itself"),
            (self.queues.is_some_and(|queues| queues > 1), "--queues: Firecracker has one queue each way"),
            (self.vcpus > MOST_FIRECRACKER_VCPUS, "--vcpus: Firecracker gives a guest 32 CPUs at most"),
            (self.accel == Some(Accelerator::Tcg), "--accel tcg: Firecracker runs guests by KVM only"),
        ];
        let found = wrong.into_iter().find_map(|(is, message)| is.then_some(message));
        found
            .map_or(Ok(()), |message| Err(Misuse::new(message).hint("take it out, or --monitor firecracker")))
    }

    /// The MTU of its network device, if it has one.
    fn mtu_of_device(&self) -> Option<u32> {
        let asked = self.mtu.is_some() || self.queues.is_some() || self.vhost.is_some();
        asked.then(|| self.mtu.unwrap_or(USUAL_MTU))
    }

    fn kernel(&self) -> anyhow::Result<Kernel> {
        let Some(kernel) = &self.kernel else { return Ok(Kernel::installed()?) };
        Kernel::chosen(kernel, self.modules.clone()).map_err(|error| match error {
            GuestError::NoRelease { .. }
            | GuestError::NoKernelFile { .. }
            | GuestError::NoSuchRelease { .. } => Misuse::new(format!("--kernel: {error}")).into(),
            error => error.into(),
        })
    }
}
