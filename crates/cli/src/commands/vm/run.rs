//! `plumb vm run`: one guest from this binary and a kernel of the host's packages, with no disk image.

use std::{path::PathBuf, sync::Arc, time::Duration};

use ::lab::{Introduction, Stop, introduce};
use anyhow::Context;
use clap::{Args, ValueEnum};
use machine::{Accelerator, GuestError, Image, Kernel, Qemu};
use samples::{Environment, MissingProbe};
use scenario::{Board, HostName, Vm};
use serde::Serialize;
use units::{Bytes, Nanos};

use crate::{
    amount,
    commands::{PROGRAM, TOOL, run::probe},
    exit::Exit,
    failure::{Misuse, NoGuest},
    interrupt, say,
};

/// What errors and lists of processes call the guest.
const NAME: &str = "guest";

/// Flags of `plumb vm run`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RunArgs {
    /// CPUs of the guest
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=255))]
    vcpus: u32,
    /// Memory of the guest
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = amount::size)]
    memory: Bytes,
    /// What its devices are attached to
    #[arg(long, value_enum, default_value_t = TypedBoard::Q35)]
    board: TypedBoard,
    /// What runs its instructions: the CPU's virtualisation, or emulation [default: what this machine has]
    #[arg(long, value_enum)]
    accel: Option<TypedAccelerator>,
    /// Kernel to boot (a bzImage) [default: the newest of /boot, one for virtual machines first]
    #[arg(long, value_name = "FILE")]
    kernel: Option<PathBuf>,
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
The guest's file system is made in memory: this program and the kernel's modules for virtio. The guest has no disk, no \
network and no shell; it is gone when this command ends, however it ends. It needs qemu-system-x86_64 and an installed \
kernel (`apt-get install qemu-system-x86 linux-image-cloud-amd64`), and no root.

Exit status: 0 it ran; 1 it did not; 3 this machine lacks what is needed; 64 a flag makes no sense; 130 interrupted.";

/// Boards by the name that is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TypedBoard {
    /// A PC with PCI Express
    Q35,
    /// QEMU's minimal machine without PCI
    Microvm,
}

impl From<TypedBoard> for Board {
    fn from(typed: TypedBoard) -> Self {
        match typed {
            TypedBoard::Q35 => Self::Q35,
            TypedBoard::Microvm => Self::Microvm,
        }
    }
}

/// Accelerators by the name that is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TypedAccelerator {
    /// The CPU's own virtualisation
    Kvm,
    /// Emulation
    Tcg,
}

impl From<TypedAccelerator> for Accelerator {
    fn from(typed: TypedAccelerator) -> Self {
        match typed {
            TypedAccelerator::Kvm => Self::Kvm,
            TypedAccelerator::Tcg => Self::Tcg,
        }
    }
}

/// What is printed: as a table, or as it is.
#[derive(Debug, Serialize)]
struct Document {
    /// The version of this form.
    schema: u32,
    vm: Vm,
    accelerator: &'static str,
    /// Why the guest is emulated, if nobody asked for that.
    emulated_because: Option<String>,
    /// From QEMU's start until the guest's first process ran, in nanoseconds.
    booted_within: Option<Nanos>,
    /// From QEMU's start until the guest's agent had greeted, in nanoseconds.
    ready_within: Nanos,
    environment: Environment,
    /// The probes that were tried.
    probes: Vec<&'static str>,
    /// Those of them that cannot run in the guest.
    missing_probes: Vec<MissingProbe>,
}

/// Boots a guest, lets it tell what it is, and ends it.
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    let stop = Stop::new();
    interrupt::asks(&stop.flag())?;
    let vm = args.vm()?;
    let kernel = args.kernel()?;
    let (accelerator, emulated_because) = match args.accel {
        Some(typed) => (Accelerator::from(typed).checked()?, None),
        None => Accelerator::best(),
    };
    let image = Image::build(&kernel, PROGRAM.as_ref(), Qemu::MODULES, &[])?;
    let host = HostName::new(NAME);
    let machine = Qemu::new(host.clone(), vm, accelerator, kernel, Arc::new(image));
    let known = introduce((host, Box::new(machine)), TOOL, &stop, &args.probe.0).context(NoGuest)?.known;
    let Introduction { environment, missing, booted_within, ready_within } = known;
    let document = Document {
        schema: 1,
        vm,
        accelerator: accelerator.word(),
        emulated_because,
        booted_within: booted_within.map(Nanos::from),
        ready_within: Nanos::from(ready_within),
        environment,
        probes: args.probe.0.iter().map(|probe| probe.word()).collect(),
        missing_probes: missing,
    };
    let text = if args.json { serde_json::to_string_pretty(&document)? + "\n" } else { table(&document) };
    say::text(text)?;
    Ok(Exit::Success)
}

impl RunArgs {
    fn vm(&self) -> anyhow::Result<Vm> {
        if self.memory < Qemu::LEAST_MEMORY {
            let least = Qemu::LEAST_MEMORY;
            return Err(
                Misuse::new(format!("--memory {}: a guest needs {least} at least", self.memory)).into()
            );
        }
        Ok(Vm { board: self.board.into(), vcpus: self.vcpus, memory: self.memory, ..Vm::default() })
    }

    fn kernel(&self) -> anyhow::Result<Kernel> {
        let Some(image) = &self.kernel else { return Ok(Kernel::installed()?) };
        Kernel::named(image.clone(), self.modules.clone()).map_err(|error| match error {
            GuestError::NoRelease { .. } | GuestError::NoKernelFile { .. } => {
                Misuse::new(format!("--kernel: {error}")).into()
            }
            error => error.into(),
        })
    }
}

fn table(document: &Document) -> String {
    let Document { vm, environment, .. } = document;
    let because = document.emulated_because.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let run_by = match document.accelerator {
        "tcg" => format!("emulated, so that its times do not compare with hardware{because}"),
        _ => "run by the CPU's virtualisation (KVM)".to_owned(),
    };
    let plural = if vm.vcpus == 1 { "" } else { "s" };
    let mut rows = vec![
        ("guest", format!("{} with {} CPU{plural} and {}, {run_by}", vm.board.word(), vm.vcpus, vm.memory)),
        ("kernel", environment.kernel.clone()),
        ("cpu", environment.cpu_model.clone().unwrap_or_else(|| "unknown".to_owned())),
        ("clock", environment.clock_source.clone().unwrap_or_else(|| "unknown".to_owned())),
        ("boot", boot(document)),
    ];
    for probe in &document.probes {
        let missing = document.missing_probes.iter().find(|missing| missing.probe.word() == *probe);
        let text = missing.map_or_else(
            || format!("{probe} runs"),
            |missing| format!("{probe} does not: {}", missing.because),
        );
        rows.push(("probe", text));
    }
    rows.iter().map(|(name, text)| format!("{name:<8}{text}\n")).collect()
}

fn boot(document: &Document) -> String {
    let ready = Duration::from(document.ready_within);
    let Some(booted) = document.booted_within.map(Duration::from) else {
        return format!("agent ready after {:.2} s", ready.as_secs_f64());
    };
    let share = ready.as_secs_f64() / booted.as_secs_f64();
    format!(
        "first process after {:.2} s, agent ready after {:.2} s ({share:.2}x)",
        booted.as_secs_f64(),
        ready.as_secs_f64()
    )
}
