//! `plumb vm run`: boots a guest from this binary and an installed kernel. No disk image is needed.

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
    commands::run::probe,
    exit::Exit,
    failure::{Misuse, NoGuest, NoRights},
    interrupt, output,
    program::TOOL,
    value_parsers::{Word, one_of},
};

const NAME: &str = "guest";
const DEFAULT_MTU: u32 = 1500;
/// The maximum number of vCPUs in Firecracker (`vcpu_count` in its API).
const MOST_FIRECRACKER_VCPUS: u32 = 32;

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
    /// QEMU's machine type [default: q35]
    #[arg(long, value_parser = one_of(BOARDS))]
    board: Option<Board>,
    /// Add a network device with this many queue pairs, up to one per CPU [default: 1 with --vhost or
    /// --mtu, otherwise no device]
    #[arg(long, value_name = "N", value_parser = vcpus())]
    queues: Option<u32>,
    /// Add a network device. The host kernel (vhost-net) or QEMU handles its packets
    #[arg(long, value_parser = one_of(SWITCH))]
    vhost: Option<bool>,
    /// Add a network device with this MTU [default with a device: 1500]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(576..=65535))]
    mtu: Option<u32>,
    /// Hardware virtualisation or emulation [default: the best available]
    #[arg(long, value_parser = one_of(ACCELERATORS))]
    accel: Option<Accelerator>,
    /// Kernel to boot: a bzImage file, or an installed release, e.g. `6.12` [default: PLUMB_GUEST_KERNEL,
    /// or the newest in /boot, preferring kernels for virtual machines]
    #[arg(long, value_name = "KERNEL")]
    kernel: Option<GuestKernel>,
    /// Directory of the kernel's modules, with modules.dep [default: /lib/modules/RELEASE]
    #[arg(long, value_name = "FOLDER", requires = "kernel")]
    modules: Option<PathBuf>,
    /// Probes to try in the guest, e.g. cpu,syscalls,packet-way; or none
    #[arg(long, value_name = "PROBES", default_value = "all", value_parser = probe::chosen)]
    probe: probe::Chosen,
    /// Print a JSON document instead of a table
    #[arg(short = 'J', long)]
    json: bool,
}

const AFTER_HELP: &str = "The guest's file system is in memory and contains this program and the kernel's \
    virtio modules. The guest has no disk and no shell, and always ends with this command. Requires \
    qemu-system-x86_64 and an installed kernel (`apt-get install qemu-system-x86 \
    linux-image-cloud-amd64`), but not root. --monitor firecracker requires Firecracker instead of QEMU, \
    KVM, and root or a user namespace.

--queues, --vhost and --mtu add a network device, connected to a tap device in a new network namespace. \
    The output then shows queues, rings, MTU, offloads and negotiated features, as seen by guest and host. \
    This requires root, or a host that allows user namespaces.

Exit status: 0 success; 1 failure; 3 this machine lacks a requirement; 64 usage error; 130 interrupted.";

const BOARDS: &[Word<Board>] = &[
    ("q35", Board::Q35, "A PC with PCI Express"),
    ("microvm", Board::Microvm, "QEMU's minimal machine without PCI"),
];
const SWITCH: &[Word<bool>] = &[("on", true, "The host kernel"), ("off", false, "QEMU")];
const ACCELERATORS: &[Word<Accelerator>] =
    &[("kvm", Accelerator::Kvm, "Hardware virtualisation"), ("tcg", Accelerator::Tcg, "Emulation")];

fn vcpus() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(Vm::MOST_VCPUS))
}

pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    let vm = args.vm()?;
    let mtu = args.mtu_of_device();
    if mtu.is_some() || vm.monitor == Monitor::Firecracker {
        // Only a single-threaded process can enter a user namespace.
        Rights::acquire().context(NoRights)?;
    }
    let stop = Stop::new();
    interrupt::set_on_signal(&stop.flag())?;
    let kernel = args.kernel()?;
    let host = HostName::new(NAME);
    let network = mtu.map(|mtu| GuestNetwork::create(&host, &vm, mtu)).transpose()?;
    let requested = args.accel;
    let booting = args.monitor.booting((host.clone(), &vm), kernel, network.as_ref(), requested)?;
    let Booting { machine, accelerator, emulated_reason } = booting;
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
        emulated_reason,
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
                Misuse::new(format!("--memory {}: a guest needs at least {least}", self.memory)).into()
            );
        }
        let queues = self.queues.unwrap_or(1);
        if queues > self.vcpus {
            let message = format!("--queues {queues}: a guest uses at most one queue per CPU");
            return Err(Misuse::new(message).hint(format!("add CPUs: --vcpus {queues}")).into());
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
            (self.board.is_some(), "--board: not supported by Firecracker"),
            (
                self.vhost == Some(true),
                "--vhost on: not supported by Firecracker, which handles packets \
                itself",
            ),
            (self.queues.is_some_and(|queues| queues > 1), "--queues: Firecracker supports one queue pair"),
            (self.vcpus > MOST_FIRECRACKER_VCPUS, "--vcpus: Firecracker supports up to 32 CPUs"),
            (self.accel == Some(Accelerator::Tcg), "--accel tcg: Firecracker requires KVM"),
        ];
        let found = wrong.into_iter().find_map(|(is, message)| is.then_some(message));
        found.map_or(Ok(()), |message| Err(Misuse::new(message).hint("remove it, or --monitor firecracker")))
    }

    fn mtu_of_device(&self) -> Option<u32> {
        let requested = self.mtu.is_some() || self.queues.is_some() || self.vhost.is_some();
        requested.then(|| self.mtu.unwrap_or(DEFAULT_MTU))
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
