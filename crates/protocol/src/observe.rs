//! Requests to observe a trial in the kernel, and their results.

use std::net::Ipv4Addr;

use samples::{AttributedCpu, CpuConsumer, MachineCpu, MissingProbe, ProbeKind, ProbeResults};
use serde::{Deserialize, Serialize};
use units::Bytes;
use workload::Transport;

use crate::token::Token;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObserveOrder {
    pub token: Token,
    /// The reply lists those that cannot run.
    pub probes: Vec<ProbeKind>,
    /// Child processes belong to the same owner.
    pub subjects: Vec<Subject>,
    pub latency_breakdown: Option<BreakdownOrder>,
}

/// The processes of an owner, with their threads and future children. For [`CpuOwner::ClientVm`] and [`CpuOwner::ServerVm`]
/// they are monitors of a virtual machine, and its vCPU threads, other threads and vhost workers are distinguished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    pub consumer: CpuConsumer,
    pub pids: Vec<u32>,
    /// Inode numbers (nsfs).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<u64>,
    /// Version 2, with their descendants, by inode.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cgroups: Vec<u64>,
    pub syscalls: bool,
}

impl Subject {
    #[must_use]
    pub const fn of(consumer: CpuConsumer, pids: Vec<u32>, syscalls: bool) -> Self {
        Self { consumer, pids, namespaces: Vec::new(), cgroups: Vec::new(), syscalls }
    }
}

/// Only one message is in flight at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakdownOrder {
    pub transport: Transport,
    /// No hop changes it or the port.
    pub server: Ipv4Addr,
    pub port: u16,
    /// Payload.
    pub message: Bytes,
    /// Follow one in this many messages.
    pub every: u32,
    pub devices: Vec<WatchedDevice>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedDevice {
    /// `host:device`.
    pub name: String,
    /// E.g. `veth`, `bridge`, `vxlan`.
    pub kind: String,
    /// Inode (nsfs).
    pub namespace: u64,
    pub index: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observing {
    pub missing: Vec<MissingProbe>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub observed: ProbeResults,
    pub unread: Vec<MissingProbe>,
    /// Independent of probes; `None` if /proc does not report it.
    pub host: Option<HostCpu>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostCpu {
    pub machine: MachineCpu,
    pub processes: AttributedCpu,
}
