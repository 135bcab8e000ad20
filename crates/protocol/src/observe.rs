//! Requests to observe a trial with probes in the kernel, and the results.

use std::net::IpAddr;

use samples::{AttributedCpu, CpuConsumer, MachineCpu, MissingProbe, ProbeKind, ProbeResults};
use serde::{Deserialize, Serialize};
use units::Bytes;
use workload::Transport;

use crate::token::Token;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObserveOrder {
    pub token: Token,
    /// The reply lists the probes that cannot run.
    pub probes: Vec<ProbeKind>,
    /// Children of these processes belong to the same owner.
    pub subjects: Vec<Subject>,
    pub latency_breakdown: Option<BreakdownOrder>,
}

/// An owner's processes, including their threads and future children. For [`CpuConsumer::ClientVm`] and
/// [`CpuConsumer::ServerVm`], the processes are VMMs. Their vCPU threads, other threads and vhost workers are
/// measured separately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    pub consumer: CpuConsumer,
    pub pids: Vec<u32>,
    /// Network namespaces, by inode number (nsfs).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<u64>,
    /// Control groups (version 2), by inode number. Their descendants are included.
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

/// A latency breakdown of messages. Only one message is in flight at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakdownOrder {
    pub transport: Transport,
    /// No hop may change the server's address or port.
    pub server: IpAddr,
    pub port: u16,
    pub message: Bytes,
    /// Trace only one in this many messages.
    pub every: u32,
    pub devices: Vec<WatchedDevice>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedDevice {
    pub name: String,
    pub kind: String,
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
    /// The host's CPU time, or `None` if /proc does not report it.
    pub host: Option<HostCpu>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostCpu {
    pub machine: MachineCpu,
    pub processes: AttributedCpu,
}
