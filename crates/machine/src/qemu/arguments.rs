//! QEMU's command line. Sources: qemu(1) and docs/system/i386/microvm.rst of QEMU 7.2.

use protocol::guest::{CONDUCT, PORT};
use scenario::Board;
use workload::BalloonMethod;

use super::{Qemu, accelerator::Accelerator};

#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub(super) enum Descriptor {
    Image = 10,
    Agent,
    Qmp,
    Console,
    Memory,
    FirstQueue,
}

pub const BALLOON: &str = "balloon";
/// Denies obsolete system calls, changes of user, and new programs.
const SANDBOX: &str = "on,obsolete=deny,elevateprivileges=deny,spawn=deny";
/// A panic ends the guest and QEMU.
const KERNEL_ARGUMENTS: &str = "console=ttyS0 quiet panic=-1 rootfstype=ramfs";
/// An emulated timer is late when the host is busy. A kernel that calibrates with it hangs at boot or rejects the TSC, which
/// is the host's (admin-guide/kernel-parameters.txt of Linux).
const EMULATED_KERNEL_ARGUMENTS: &str = "tsc=reliable no_timer_check";
/// Has fewer extensions than `max`: emulation is four times as fast and does not hang.
const EMULATED_CPU: &str = "EPYC";
/// QEMU emulates virtualization (with nested paging) only for AMD CPUs.
const EMULATED_HYPERVISOR_CPU: &str = "EPYC,+svm";

pub(super) fn build(machine: &Qemu) -> Vec<String> {
    let Qemu { host, vm, accelerator, kernel, nic, nests, .. } = machine;
    let accelerator = *accelerator;
    let (board, accel) = (vm.board.word(), accelerator.word());
    let cpu = match accelerator {
        Accelerator::Kvm => "host",
        Accelerator::Tcg if *nests => EMULATED_HYPERVISOR_CPU,
        Accelerator::Tcg => EMULATED_CPU,
    };
    // One thread per emulated CPU. With virtio-mmio, device names contain the bus.
    let accel =
        if accelerator == Accelerator::Tcg { format!("{accel},thread=multi") } else { accel.to_owned() };
    let bus = match vm.board {
        Board::Q35 => "pci",
        Board::Microvm => "device",
    };
    // A guest without a disk needs no system management mode.
    let smm = match vm.board {
        Board::Q35 => ",smm=off",
        Board::Microvm => "",
    };
    let megabytes = vm.memory.0 >> 20;
    let mut words: Vec<String> =
        ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"].map(str::to_owned).to_vec();
    let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
    add("-name", format!("guest={host},debug-threads=on"));
    add("-sandbox", SANDBOX.to_owned());
    // A machine with NUMA nodes has memory per node.
    let backend = if vm.slow.0 > 0 { "" } else { ",memory-backend=memory" };
    add("-machine", format!("{board}{backend}{smm}"));
    add("-accel", accel);
    add("-cpu", cpu.to_owned());
    add("-smp", vm.vcpus.to_string());
    let pluggable = vm.pluggable().0 >> 20;
    let slow = vm.slow.0 >> 20;
    let (fixed, all) = (megabytes - pluggable, megabytes + slow);
    let most = if pluggable > 0 { format!(",maxmem={all}M") } else { String::new() };
    add("-m", format!("{}M{most}", fixed + slow));
    add("-object", format!("memory-backend-memfd,id=memory,size={fixed}M"));
    if slow > 0 {
        add("-object", format!("memory-backend-memfd,id=slow,size={slow}M"));
        add("-numa", format!("node,nodeid=0,memdev=memory,cpus=0-{}", vm.vcpus - 1));
        add("-numa", "node,nodeid=1,memdev=slow".to_owned());
    }
    match vm.balloon {
        Some(BalloonMethod::VirtioMem) => {
            add("-object", format!("memory-backend-memfd,id=pluggable,size={pluggable}M"));
            let all = format!("memdev=pluggable,node=0,requested-size={pluggable}M");
            add("-device", format!("virtio-mem-{bus},id={BALLOON},{all}"));
        }
        Some(BalloonMethod::VirtioBalloon) => add("-device", format!("virtio-balloon-{bus},id={BALLOON}")),
        Some(BalloonMethod::Agent) | None => {}
    }
    if vm.balloon.is_some() {
        add("-chardev", socket("memory-qmp", Descriptor::Memory));
        add("-mon", "chardev=memory-qmp,mode=control".to_owned());
    }
    add("-kernel", kernel.image.display().to_string());
    add("-initrd", format!("/proc/self/fd/{}", Descriptor::Image as i32));
    let mut arguments = kernel_arguments(accelerator, *nests);
    if pluggable > 0 {
        // Keeps unmovable pages out of it, so that all of it can be unplugged.
        arguments.insert_str(0, "memhp_default_state=online_movable ");
    }
    add("-append", arguments);
    add("-chardev", socket("console", Descriptor::Console));
    add("-serial", "chardev:console".to_owned());
    add("-chardev", socket("qmp", Descriptor::Qmp));
    add("-mon", "chardev=qmp,mode=control".to_owned());
    add("-device", format!("virtio-serial-{bus}"));
    add("-chardev", socket("agent", Descriptor::Agent));
    add("-device", format!("virtserialport,chardev=agent,name={PORT}"));
    if let Some(nic) = nic {
        let [side_of_tap, side_of_guest] = nic.options(vm, bus, Descriptor::FirstQueue as i32);
        add("-netdev", side_of_tap);
        add("-device", side_of_guest);
    }
    words
}

fn kernel_arguments(accelerator: Accelerator, nests: bool) -> String {
    let counter = || sys::tsc::kilohertz().map(|khz| format!(" tsc_early_khz={khz}")).unwrap_or_default();
    let of_first_process = if nests { format!(" -- {CONDUCT}") } else { String::new() };
    match accelerator {
        Accelerator::Kvm => format!("{KERNEL_ARGUMENTS}{of_first_process}"),
        Accelerator::Tcg => {
            format!("{KERNEL_ARGUMENTS} {EMULATED_KERNEL_ARGUMENTS}{}{of_first_process}", counter())
        }
    }
}

fn socket(id: &str, descriptor: Descriptor) -> String {
    format!("socket,id={id},fd={}", descriptor as i32)
}
