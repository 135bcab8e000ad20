//! Orders to watch a trial from the kernel, and what was seen.

use std::net::Ipv4Addr;

use samples::{CpuOwner, MachineCpu, MissingProbe, OwnedCpu, ProbeKind, ProbeResults};
use serde::{Deserialize, Serialize};
use units::Bytes;
use workload::Transport;

use crate::message::Token;

/// Watch one trial: begin before its traffic does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObserveOrder {
    /// The trial.
    pub token: Token,
    /// What to watch with; those that cannot run here are named in the answer and left out.
    pub probes: Vec<ProbeKind>,
    /// Whose processes are whose; children that they make count with them.
    pub subjects: Vec<Subject>,
    /// The messages to follow, of a ping-pong.
    pub way: Option<BreakdownOrder>,
}

/// Processes of one owner, with all their threads and the children that they make from then on. Those of [`CpuOwner::ClientVm`] or [`CpuOwner::ServerVm`] are monitors of a virtual machine: their
/// vCPU threads, their other threads and their vhost workers are told apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Whose.
    pub owner: CpuOwner,
    /// Numbers of processes, as the machine that watches numbers them.
    pub pids: Vec<u32>,
    /// Every process of these network namespaces, by inode (nsfs).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<u64>,
    /// Every process of these control groups (version 2) and those below, by inode.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cgroups: Vec<u64>,
    /// Whether their system calls are counted.
    pub syscalls: bool,
}

impl Subject {
    /// These processes, and no namespace or group.
    #[must_use]
    pub const fn of(owner: CpuOwner, pids: Vec<u32>, syscalls: bool) -> Self {
        Self { owner, pids, namespaces: Vec::new(), cgroups: Vec::new(), syscalls }
    }
}

/// Messages to follow: one is under way at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakdownOrder {
    /// TCP or UDP.
    pub transport: Transport,
    /// The server's address, as the client writes it: no hop changes it, nor the port.
    pub server: Ipv4Addr,
    /// The server's port.
    pub port: u16,
    /// The size of a message's payload.
    pub message: Bytes,
    /// Follow every so many-th.
    pub every: u32,
    /// The devices of all hosts of the lab.
    pub devices: Vec<WatchedDevice>,
}

/// A device that messages may pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedDevice {
    /// `host:device`.
    pub name: String,
    /// What it is: `veth`, `bridge`, `vxlan`.
    pub kind: String,
    /// The inode of its network namespace (nsfs).
    pub namespace: u64,
    /// Its number in it.
    pub index: u32,
}

/// What an observer has begun.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observing {
    /// The probes that cannot run here.
    pub missing: Vec<MissingProbe>,
}

/// What an observer has seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// By all probes together.
    pub observed: ProbeResults,
    /// The probes that could not be read, whose part is not there.
    pub unread: Vec<MissingProbe>,
    /// The machine's CPU time meanwhile, whatever the probes; `None` where /proc does not tell.
    pub host: Option<HostCpu>,
}

/// CPU time of the machine that an observer is on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostCpu {
    /// By what it was for.
    pub machine: MachineCpu,
    /// By process.
    pub processes: OwnedCpu,
}
