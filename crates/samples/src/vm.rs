//! Facts about a running virtual machine, gathered without help from the guest.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

use crate::{counters::DeviceCounters, device_state::DeviceState};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VmFacts {
    pub pid: u32,
    /// Guest name, from `-name`.
    pub guest: Option<String>,
    /// Proxmox VM ID, from `-id`.
    pub id: Option<String>,
    pub libvirt: bool,
    pub accelerator: Option<VmAccelerator>,
    /// Machine type, from `-machine`.
    pub board: Option<String>,
    /// CPU model, from `-cpu`.
    pub cpu: Option<String>,
    pub cpus: Option<u32>,
    pub memory: Option<Bytes>,
    /// Resident memory of the process, including guest memory.
    pub resident: Option<Bytes>,
    /// Control group (version 2) of the process.
    pub control_group: Option<String>,
    /// CPU limit of the control group. `None` if unlimited.
    pub cpu_limit: Option<f64>,
    /// Time for which the control group was throttled.
    pub throttled: Option<Nanos>,
    pub threads: Vec<VmThread>,
    pub devices: Vec<VmDevice>,
    /// `None` if the monitor was not queried.
    pub monitor: Option<VmMonitor>,
    #[serde(default)]
    pub unread: Vec<Unread>,
}

/// How guest instructions are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VmAccelerator {
    /// Hardware virtualisation.
    Kvm,
    /// QEMU's emulation.
    Emulation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VmRole {
    /// A guest CPU.
    Cpu,
    /// The main loop, which processes packets if vhost is not used.
    Main,
    /// A separate I/O thread.
    Io,
    /// A vhost worker, which processes packets in the kernel.
    Vhost,
    /// Any other thread, e.g. for disks or a display.
    Other,
}

impl VmRole {
    pub const ALL: [Self; 5] = [Self::Cpu, Self::Vhost, Self::Main, Self::Io, Self::Other];
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VmThread {
    pub tid: u32,
    /// The thread's name, e.g. `CPU 0/KVM` or `vhost-1200`.
    pub name: String,
    pub role: VmRole,
    pub cpus: Vec<u32>,
    /// CPU time, including guest time.
    pub ran: Option<Nanos>,
    /// Part of `ran` spent in the guest. `None` for threads other than vCPUs, and for emulated guests.
    pub guest: Option<Nanos>,
    /// Time spent ready to run but waiting for a host CPU.
    pub waited: Option<Nanos>,
}

/// A network device of the virtual machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VmDevice {
    /// QEMU ID of the backend, from `-netdev`.
    pub netdev: Option<String>,
    /// The kind of backend, e.g. `tap`, `user` or `vhost-user`.
    pub backend: String,
    /// The guest's device, e.g. `virtio-net-pci` or `e1000`.
    pub model: Option<String>,
    pub tap: Option<String>,
    pub queues: u32,
    /// Configured queues that the guest does not use.
    pub unused_queues: u32,
    /// Whether the device uses the kernel's vhost. `None` if unknown.
    pub vhost: Option<bool>,
    /// Whether packets have a virtio header, which is needed for offloads.
    pub header: Option<bool>,
    /// The state of the tap device in its namespace.
    pub state: Option<DeviceState>,
    /// Root queueing discipline of the tap device.
    pub qdisc: Option<String>,
    pub master: Option<VmMaster>,
    /// Counters of the tap device. It receives the packets that the guest sends.
    pub counters: Option<DeviceCounters>,
    pub negotiated: Option<NegotiatedFeatures>,
}

/// The bridge or other device that a tap device is attached to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VmMaster {
    pub name: String,
    /// The kind, e.g. `bridge` or `openvswitch`.
    pub kind: String,
    pub mtu: u32,
}

/// A monitor's information about a network device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NegotiatedFeatures {
    /// Configured properties related to traffic, e.g. `mq`, `mrg_rxbuf`, `host_tso4` or `rx_queue_size`.
    pub set: BTreeMap<String, String>,
    /// Features accepted by the guest's driver. `None` if the monitor does not report them (before QEMU 7.2).
    pub features: Option<Vec<String>>,
    /// Whether the guest's driver is running.
    pub driver: Option<bool>,
    pub vhost: Option<bool>,
}

/// A monitor's information about the machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VmMonitor {
    /// QEMU version, e.g. `7.2.22`.
    pub version: String,
    /// Status, e.g. `running`, `paused` or `prelaunch`.
    pub status: String,
    pub kvm: Option<bool>,
    pub io_threads: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unread {
    pub what: String,
    pub reason: String,
}
