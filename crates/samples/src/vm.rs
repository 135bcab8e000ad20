//! What was read of a virtual machine that ran anyway, without asking anything of its guest: from /proc, from the devices
//! on the host's side, and from its monitor where one was free. Must not know how it was read or is shown.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

use crate::{counters::DeviceCounters, device_state::DeviceState};

/// A virtual machine of QEMU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VmFacts {
    /// Its process.
    pub pid: u32,
    /// The guest's name, of `-name`.
    pub guest: Option<String>,
    /// Proxmox's number of it, of `-id`.
    pub id: Option<String>,
    /// Whether it was made by libvirt.
    pub libvirt: bool,
    /// What runs its instructions; `None` where that could not be told.
    pub accelerator: Option<VmAccelerator>,
    /// Its machine type, of `-machine`.
    pub board: Option<String>,
    /// Its processor, of `-cpu`.
    pub cpu: Option<String>,
    /// CPUs of the guest.
    pub cpus: Option<u32>,
    /// Memory of the guest.
    pub memory: Option<Bytes>,
    /// Memory of the process that is in RAM, the guest's with it.
    pub resident: Option<Bytes>,
    /// Its control group (version 2).
    pub control_group: Option<String>,
    /// CPUs that the control group may use; `None` where it has no such limit of its own.
    pub cpu_limit: Option<f64>,
    /// How long the control group stood still meanwhile because its limit was used up.
    pub throttled: Option<Nanos>,
    /// Its threads, vhost workers included.
    pub threads: Vec<VmThread>,
    /// Its network devices.
    pub devices: Vec<VmDevice>,
    /// What its monitor said; `None` where none was asked.
    pub monitor: Option<VmMonitor>,
    /// What could not be read.
    #[serde(default)]
    pub unread: Vec<Unread>,
}

/// What runs a guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VmAccelerator {
    /// The CPU's own virtualisation.
    Kvm,
    /// QEMU, instruction by instruction.
    Emulation,
}

/// What a thread is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VmRole {
    /// A CPU of the guest.
    Cpu,
    /// The main loop: without vhost it moves the packets.
    Main,
    /// An I/O thread of its own.
    Io,
    /// A vhost worker: moves packets in the kernel.
    Vhost,
    /// Any other, such as workers for disks or a display.
    Other,
}

impl VmRole {
    /// Every role, in the order in which they are told.
    pub const ALL: [Self; 5] = [Self::Cpu, Self::Vhost, Self::Main, Self::Io, Self::Other];
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VmThread {
    /// Its number.
    pub tid: u32,
    /// Its name: `CPU 0/KVM`, `vhost-1200`.
    pub name: String,
    pub role: VmRole,
    /// The CPUs that it may run on.
    pub cpus: Vec<u32>,
    /// CPU time that it had meanwhile, that of the guest in it.
    pub ran: Option<Nanos>,
    /// Of that, in the guest; `None` of a thread that runs none, and of an emulated one.
    pub guest: Option<Nanos>,
    /// How long it was ready meanwhile and waited for a CPU of the host.
    pub waited: Option<Nanos>,
}

/// A network device of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VmDevice {
    /// QEMU's name of its host side, of `-netdev`.
    pub netdev: Option<String>,
    /// What the host side is: `tap`, `user`, `vhost-user`.
    pub backend: String,
    /// What the guest sees: `virtio-net-pci`, `e1000`.
    pub model: Option<String>,
    pub tap: Option<String>,
    /// Queues that are in use.
    pub queues: u32,
    /// Queues that it was given and the guest does not use.
    pub unused_queues: u32,
    /// Whether the kernel's vhost moves its packets; `None` where that could not be told.
    pub vhost: Option<bool>,
    /// Whether packets have a header that tells of offloads; without it there are none.
    pub header: Option<bool>,
    /// The tap device as its namespace has it.
    pub state: Option<DeviceState>,
    /// The queueing discipline at the tap device's root.
    pub qdisc: Option<String>,
    /// What the tap device is a port of.
    pub master: Option<VmMaster>,
    /// What the tap device counted meanwhile; received is what the guest sent.
    pub counters: Option<DeviceCounters>,
    /// What the monitor says of it.
    pub negotiated: Option<NegotiatedFeatures>,
}

/// What a tap device is a port of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VmMaster {
    pub name: String,
    /// What it is: `bridge`, `openvswitch`.
    pub kind: String,
    pub mtu: u32,
}

/// What a monitor says of a network device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NegotiatedFeatures {
    /// Its properties that concern traffic, as they were set: `mq`, `mrg_rxbuf`, `host_tso4`, `rx_queue_size`.
    pub set: BTreeMap<String, String>,
    /// The features that the guest's driver took; `None` where the monitor cannot say (before QEMU 7.2).
    pub features: Option<Vec<String>>,
    /// Whether the guest's driver is up.
    pub driver: Option<bool>,
    /// Whether vhost was started.
    pub vhost: Option<bool>,
}

/// What a monitor says of the machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VmMonitor {
    /// Its version: `7.2.22`.
    pub version: String,
    /// What the guest does: `running`, `paused`, `prelaunch`.
    pub status: String,
    /// Whether KVM runs the guest.
    pub kvm: Option<bool>,
    /// Names of its I/O threads.
    pub io_threads: Vec<String>,
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unread {
    pub what: String,
    /// Why not.
    pub because: String,
}
