//! A virtual hypervisor: an emulated machine whose kernel has KVM and vhost-net, with QEMU in its image, so that guests
//! run in it as they do on hardware that has both. Its times are those of an emulated processor; what it counts holds.
//! Must not know what is conducted in it.

mod contents;

use std::{path::Path, sync::Arc, thread};

use scenario::{HostName, Vm};
use units::Bytes;

use crate::{
    error::MachineError,
    guest::{Image, Kernel},
    qemu::{Accelerator, Qemu},
};

/// What its kernel loads beside what any guest does: what labs are made of, and what runs guests.
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
    "tcp_bbr",
];
/// Its own kernel, its image in memory and whoever conducts.
const OWN_MEMORY: Bytes = Bytes(1 << 30);
/// With more, the threads that emulate them only wait for each other.
const MOST_CPUS: usize = 8;
/// For one with guests. With two, QEMU 7.2 emulated eleven of twelve runs with four guests wrongly: guests that were
/// reset or hung as they booted, and page faults of the hypervisor's kernel right after its VMRUN. With one, none.
const CPUS_WITH_GUESTS: usize = 1;

/// The virtual hypervisor `host` with room for `guests` of memory. `program` will be its first process, which conducts;
/// guests in it boot the same `kernel` as it does. `firecracker` is what runs guests of that kind, if it is named;
/// otherwise the one on the PATH does, if there is one.
///
/// # Errors
/// When QEMU, or a part of its image, is missing.
pub fn hypervisor(
    host: HostName,
    kernel: Kernel,
    program: &Path,
    guests: Bytes,
    firecracker: Option<&Path>,
) -> Result<Qemu, MachineError> {
    let modules: Vec<&str> = Qemu::MODULES.iter().chain(MODULES).copied().collect();
    // Nothing has to be unpacked by an emulated machine.
    let vmlinux = kernel.uncompressed()?;
    let of_guests = Kernel { image: vmlinux.path(), modules: kernel.modules.clone() };
    let files = contents::of(&of_guests, firecracker)
        .map_err(|source| MachineError::Qemu { host: host.to_string(), source })?;
    let image = Arc::new(Image::build(&kernel, program, &modules, &files)?);
    let most = if guests > Bytes(0) { CPUS_WITH_GUESTS } else { MOST_CPUS };
    let cpus = thread::available_parallelism().map_or(1, |cpus| cpus.get().min(most));
    let vm = Vm { vcpus: cpus as u32, memory: Bytes(OWN_MEMORY.0 + guests.0), ..Vm::default() };
    Ok(Qemu::new(host, vm, Accelerator::Tcg, kernel, image).that_conducts())
}
