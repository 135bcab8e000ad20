//! A virtual hypervisor: an emulated machine with KVM and vhost-net. Counts are valid, but times reflect an
//! emulated CPU.

mod contents;

use std::{path::Path, sync::Arc};

use scenario::{HostName, Vm};
use units::Bytes;

use crate::{
    error::MachineError,
    guest::{ConfiguredKernel, GuestError, Image, Kernel},
    instruction_counter::InstructionCounter,
    qemu::{Accelerator, Qemu},
};

const MODULES: &[&str] = &[
    "kvm_amd",
    "tun",
    "tap",
    "vhost_net",
    "bridge",
    "veth",
    "8021q",
    "vxlan",
    "nft_chain_nat",
    "nft_masq",
    "nft_nat",
    "nf_tables",
    "sch_tbf",
    "sch_fq",
    "sch_netem",
    "tcp_bbr",
];
const OWN_MEMORY: Bytes = Bytes(1 << 30);
/// With two CPUs, clients and servers can run on different CPUs. One thread emulates both.
const CPUS: u32 = 2;
/// With two CPUs, QEMU 7.2 failed in 11 of 12 runs with four guests, which reset or hung during boot. With one CPU, no
/// run failed.
const CPUS_WITH_GUESTS: u32 = 1;

#[derive(Debug, Clone, Copy)]
pub enum Hypervisor<'a> {
    /// Runs guests with `memory` in total.
    Guests { memory: Bytes, firecracker: Option<&'a Path> },
    /// Counts instructions in namespaces, on one CPU and without guests.
    Counts,
}

/// The guest loads those modules in `links` that the kernel has.
pub fn hypervisor(
    host: HostName,
    ConfiguredKernel { kernel, parameters }: ConfiguredKernel,
    program: &Path,
    links: &[&str],
    purpose: Hypervisor<'_>,
) -> Result<(Qemu, Option<InstructionCounter>), MachineError> {
    let links = kernel.available(links)?;
    let modules: Vec<&str> = Qemu::MODULES.iter().chain(MODULES).chain(&links).copied().collect();
    // Keeps the file open until the image contains it.
    let vmlinux;
    let (guests, files) = match purpose {
        Hypervisor::Counts => (Bytes(0), Vec::new()),
        Hypervisor::Guests { memory, firecracker } => {
            // Decompress the kernel here, because that is slow in an emulated machine.
            vmlinux = kernel.uncompressed()?;
            let of_guests = Kernel { image: vmlinux.path(), modules: kernel.modules.clone() };
            let files = contents::files(&of_guests, firecracker)
                .map_err(|source| MachineError::Qemu { host: host.to_string(), source })?;
            (memory, files)
        }
    };
    let image = Arc::new(Image::build(&kernel, program, &modules, &files)?);
    let counts = matches!(purpose, Hypervisor::Counts);
    let vcpus = if counts || guests > Bytes(0) { CPUS_WITH_GUESTS } else { CPUS };
    let vm = Vm { vcpus, memory: Bytes(OWN_MEMORY.0 + guests.0), ..Vm::default() };
    let machine = Qemu::new(host, vm, Accelerator::Tcg, kernel, image).with_nested_run(parameters);
    if !counts {
        return Ok((machine, None));
    }
    let (plugin, counter) = InstructionCounter::new().map_err(GuestError::from)?;
    Ok((machine.with_counter(plugin), Some(counter)))
}
