//! QEMU's command line. See qemu(1) and docs/system/i386/microvm.rst of QEMU 7.2.

use protocol::guest::{CONDUCT, PORT};
use scenario::{Board, Vm};
use sys::counted_window::COUNTED;
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
    Plugin,
    Counts,
    FirstQueue,
}

pub const BALLOON: &str = "balloon";
/// Denies obsolete system calls, changing the user, and starting programs.
const SANDBOX: &str = "on,obsolete=deny,elevateprivileges=deny,spawn=deny";
/// After a panic, the guest and QEMU exit.
const KERNEL_ARGUMENTS: &str = "console=ttyS0 quiet panic=-1 rootfstype=ramfs";
/// On a busy host, an emulated timer fires late. A kernel that used it for calibration would hang during
/// boot, or reject the host's TSC (admin-guide/kernel-parameters.txt in the kernel sources).
const EMULATED_KERNEL_ARGUMENTS: &str = "tsc=reliable no_timer_check";
/// This CPU has fewer extensions than `max`, which makes emulation four times as fast and avoids hangs.
const EMULATED_CPU: &str = "EPYC";
/// This CPU does not generate random numbers, because they would differ between boots.
const COUNTED_CPU: &str = "EPYC,-rdrand,-rdseed";
/// Makes addresses and hashes the same in every boot, lets real-time threads use the whole CPU, and stops socket
/// buffers from growing. Neighbours are confirmed immediately and permanently, because only confirmed
/// neighbours have a cached Ethernet header.
const COUNTED_KERNEL_ARGUMENTS: &str = "nokaslr norandmaps mitigations=off random.trust_cpu=off random.trust_bootloader=off \
     sysctl.kernel.sched_rt_runtime_us=-1 sysctl.net.ipv4.tcp_moderate_rcvbuf=0 sysctl.net.ipv4.tcp_rmem=\"4096 2097152 6291456\" \
     sysctl.net.ipv4.tcp_wmem=\"4096 2097152 2097152\" \
     sysctl.net.ipv4.neigh.default.delay_first_probe_time=0 sysctl.net.ipv6.neigh.default.delay_first_probe_time=0 \
     sysctl.net.ipv4.neigh.default.base_reachable_time_ms=86400000 \
     sysctl.net.ipv6.neigh.default.base_reachable_time_ms=86400000";
/// At one instruction per nanosecond, the TSC counts 10^9 instructions per second.
const COUNTED_TSC_KHZ: u64 = 1_000_000;
/// QEMU emulates virtualization (with nested paging) only for AMD CPUs.
const EMULATED_HYPERVISOR_CPU: &str = "EPYC,+svm";

struct Arguments {
    words: Vec<String>,
    /// The suffix of device names: `pci`, or `device` with virtio-mmio.
    bus: &'static str,
}

pub(super) fn build(machine: &Qemu) -> Vec<String> {
    let words = ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"].map(str::to_owned);
    let bus = if machine.vm.board == Board::Q35 { "pci" } else { "device" };
    let mut arguments = Arguments { words: words.to_vec(), bus };
    arguments.processors(machine);
    arguments.memory(&machine.vm);
    arguments.kernel(machine);
    arguments.channels(&machine.vm);
    if machine.counter.is_some() {
        arguments.counter();
    }
    if let Some(nic) = &machine.nic {
        let [side_of_tap, side_of_guest] = nic.options(&machine.vm, bus, Descriptor::FirstQueue as i32);
        arguments.add("-netdev", side_of_tap);
        arguments.add("-device", side_of_guest);
    }
    arguments.words
}

impl Arguments {
    fn add(&mut self, option: &str, value: impl Into<String>) {
        self.words.extend([option.to_owned(), value.into()]);
    }

    /// One instruction takes one nanosecond of guest time, and idle time is skipped.
    fn counter(&mut self) {
        let [plugin, counts] = [Descriptor::Plugin, Descriptor::Counts].map(|it| it as i32);
        self.add("-icount", "shift=0,sleep=off");
        self.add("-rtc", "clock=vm");
        self.add("-seed", "1");
        self.add("-plugin", format!("/proc/self/fd/{plugin},output={counts}"));
    }

    fn processors(&mut self, Qemu { host, vm, accelerator, nested, counter, .. }: &Qemu) {
        // In QEMU 7.2, `multi` sometimes crashed the kernel of a hypervisor with several CPUs, and `single`
        // made nested guests hang if the hypervisor had one CPU.
        let (threads, cpu) = match accelerator {
            Accelerator::Kvm => ("", "host"),
            Accelerator::Tcg if counter.is_some() => (",thread=single", COUNTED_CPU),
            Accelerator::Tcg if nested.is_some() && vm.vcpus > 1 => {
                (",thread=single", EMULATED_HYPERVISOR_CPU)
            }
            Accelerator::Tcg if nested.is_some() => (",thread=multi", EMULATED_HYPERVISOR_CPU),
            Accelerator::Tcg => (",thread=multi", EMULATED_CPU),
        };
        let smm = if vm.board == Board::Q35 { ",smm=off" } else { "" };
        // Each NUMA node has its own memory backend.
        let backend = if vm.slow.0 > 0 { "" } else { ",memory-backend=memory" };
        self.add("-name", format!("guest={host},debug-threads=on"));
        self.add("-sandbox", SANDBOX);
        self.add("-machine", format!("{}{backend}{smm}", vm.board.word()));
        self.add("-accel", format!("{}{threads}", accelerator.word()));
        self.add("-cpu", cpu);
        self.add("-smp", vm.vcpus.to_string());
    }

    fn memory(&mut self, vm: &Vm) {
        let [all, slow, pluggable] = [vm.memory, vm.slow, vm.pluggable()].map(|size| size.0 >> 20);
        let fixed = all - pluggable;
        let most = if pluggable > 0 { format!(",maxmem={}M", all + slow) } else { String::new() };
        self.add("-m", format!("{}M{most}", fixed + slow));
        self.add("-object", format!("memory-backend-memfd,id=memory,size={fixed}M"));
        if slow > 0 {
            self.add("-object", format!("memory-backend-memfd,id=slow,size={slow}M"));
            self.add("-numa", format!("node,nodeid=0,memdev=memory,cpus=0-{}", vm.vcpus - 1));
            self.add("-numa", "node,nodeid=1,memdev=slow");
        }
        let bus = self.bus;
        match vm.balloon {
            Some(BalloonMethod::VirtioMem) => {
                self.add("-object", format!("memory-backend-memfd,id=pluggable,size={pluggable}M"));
                let all = format!("memdev=pluggable,node=0,requested-size={pluggable}M");
                self.add("-device", format!("virtio-mem-{bus},id={BALLOON},{all}"));
            }
            Some(BalloonMethod::VirtioBalloon) => {
                self.add("-device", format!("virtio-balloon-{bus},id={BALLOON}"));
            }
            Some(BalloonMethod::Agent) | None => {}
        }
    }

    fn kernel(&mut self, machine: &Qemu) {
        let Qemu { vm, kernel, .. } = machine;
        self.add("-kernel", kernel.image.display().to_string());
        self.add("-initrd", format!("/proc/self/fd/{}", Descriptor::Image as i32));
        // Keeps unmovable pages out of the pluggable memory, so that all of it can be unplugged.
        let online = if vm.pluggable().0 > 0 { "memhp_default_state=online_movable " } else { "" };
        self.add("-append", format!("{online}{}", kernel_arguments(machine)));
    }

    fn channels(&mut self, vm: &Vm) {
        if vm.balloon.is_some() {
            self.socket("memory-qmp", Descriptor::Memory);
            self.add("-mon", "chardev=memory-qmp,mode=control");
        }
        self.socket("console", Descriptor::Console);
        self.add("-serial", "chardev:console");
        self.socket("qmp", Descriptor::Qmp);
        self.add("-mon", "chardev=qmp,mode=control");
        self.add("-device", format!("virtio-serial-{}", self.bus));
        self.socket("agent", Descriptor::Agent);
        self.add("-device", format!("virtserialport,chardev=agent,name={PORT}"));
    }

    fn socket(&mut self, id: &str, descriptor: Descriptor) {
        self.add("-chardev", format!("socket,id={id},fd={}", descriptor as i32));
    }
}

fn kernel_arguments(Qemu { accelerator, nested, counter, .. }: &Qemu) -> String {
    let mut words = vec![KERNEL_ARGUMENTS.to_owned()];
    if *accelerator == Accelerator::Tcg {
        words.push(EMULATED_KERNEL_ARGUMENTS.to_owned());
        let khz = if counter.is_some() { Some(COUNTED_TSC_KHZ) } else { sys::tsc::kilohertz() };
        words.extend(khz.map(|khz| format!("tsc_early_khz={khz}")));
    }
    words.extend(counter.as_ref().map(|_| format!("{COUNTED_KERNEL_ARGUMENTS} {COUNTED}")));
    words.extend(nested.as_ref().map(|parameters| format!("{parameters} -- {CONDUCT}")));
    words.join(" ")
}
