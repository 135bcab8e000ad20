//! Requests to observe a trial in the kernel, and their results.

use std::net::Ipv4Addr;

use samples::{AttributedCpu, CpuConsumer, MachineCpu, MissingProbe, ProbeKind, ProbeResults};
use serde::{Deserialize, Serialize};
use units::Bytes;
use workload::Transport;

use crate::token::Token;

/// A request to observe a trial, sent before its traffic starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObserveOrder {
    pub token: Token,
    /// Requested probes; those that cannot run are listed in the reply.
    pub probes: Vec<ProbeKind>,
    /// The owners of processes. Child processes belong to the same owner.
    pub subjects: Vec<Subject>,
    /// Messages of a ping-pong to follow.
    pub latency_breakdown: Option<BreakdownOrder>,
}

/// Processes of one owner, with their threads and future children. For [`CpuConsumer::ClientVm`] and
/// [`CpuConsumer::ServerVm`] these are monitors of a virtual machine, whose vCPU threads, other threads and vhost workers
/// are distinguished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    pub consumer: CpuConsumer,
    /// Process IDs on the observing machine.
    pub pids: Vec<u32>,
    /// All processes in these network namespaces, by inode (nsfs).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<u64>,
    /// All processes in these control groups (version 2) and their descendants, by inode.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cgroups: Vec<u64>,
    /// Whether to count their system calls.
    pub syscalls: bool,
}

impl Subject {
    /// Processes without namespaces and control groups.
    #[must_use]
    pub const fn of(consumer: CpuConsumer, pids: Vec<u32>, syscalls: bool) -> Self {
        Self { consumer, pids, namespaces: Vec::new(), cgroups: Vec::new(), syscalls }
    }
}

/// Messages to follow. Only one is in flight at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakdownOrder {
    pub transport: Transport,
    /// The server's address as used by the client. No hop changes it or the port.
    pub server: Ipv4Addr,
    pub port: u16,
    /// Payload size of a message.
    pub message: Bytes,
    /// Sampling interval: follow one in this many messages.
    pub every: u32,
    /// The devices of all hosts of the lab.
    pub devices: Vec<WatchedDevice>,
}

/// A device that messages may pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedDevice {
    /// `host:device`.
    pub name: String,
    /// `veth`, `bridge`, `vxlan`.
    pub kind: String,
    /// Inode of its network namespace (nsfs).
    pub namespace: u64,
    /// Interface index in the namespace.
    pub index: u32,
}

/// The reply when probes are active.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observing {
    /// Probes that cannot run here.
    pub missing: Vec<MissingProbe>,
}

/// The result of an observation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Combined data of all probes.
    pub observed: ProbeResults,
    /// Probes that could not be read, whose data is missing.
    pub unread: Vec<MissingProbe>,
    /// CPU time of the machine, independent of probes; `None` if /proc does not report it.
    pub host: Option<HostCpu>,
}

/// CPU time of the observing machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostCpu {
    pub machine: MachineCpu,
    pub processes: AttributedCpu,
}
