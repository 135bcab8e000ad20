//! The messages. Both sides first send [`Hello`].
//!
//! Messages from guests are externally tagged, so that the receiver knows the type first and never buffers
//! arbitrary JSON.

use std::{collections::BTreeMap, net::IpAddr};

use samples::{
    CpuThrottling, DeviceCounters, DeviceState, Environment, HostCounters, MachineCpu, SoftnetCounters,
    ThreadCpu,
};
use scenario::{DeviceName, DeviceRef, DeviceSettings, HostName, Lab, PathEnd};
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};
use workload::{EndMeasurement, WorkloadSettings};

use crate::{
    memory::{MemoryOrder, MemoryReply},
    observe::{Observation, ObserveOrder, Observing},
    token::Token,
};

pub const VERSION: u32 = 9;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    pub tool: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "a greeting is received once per session")]
pub enum ToAgent {
    Hello(Hello),
    /// Each request gets exactly one reply. Replies may come in any order.
    Request {
        id: u64,
        /// The agent refuses the request after this time.
        deadline: Nanos,
        order: Order,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "kebab-case")]
pub enum Order {
    /// Reply: [`Reply::Environment`].
    Describe,
    /// Configure this guest's devices according to the lab, or create this existing host's part of the lab.
    /// Reply: [`Reply::Done`].
    ConfigureNetwork { lab: Box<Lab>, host: HostName },
    /// Reply: [`Reply::Interface`].
    FindInterface {
        host: HostName,
        /// Defaults to the address of the SSH connection or of `interface`.
        address: Option<IpAddr>,
        interface: Option<DeviceName>,
    },
    /// Reserve the interface for this session. Reply: [`Reply::Reserved`] or [`Reply::Occupied`].
    Reserve { by: String },
    /// Reply: [`Reply::Done`].
    Release,
    /// Apply these settings and reset all others. Reply: [`Reply::Done`].
    Configure { devices: BTreeMap<DeviceRef, DeviceSettings> },
    /// Reply: [`Reply::DeviceStates`].
    ReadStates { devices: Vec<DeviceRef> },
    /// Reply: [`Reply::DeviceCounters`].
    ReadCounters { devices: Vec<DeviceRef> },
    /// Reply: [`Reply::Listening`] once clients can connect.
    Serve(ServerOrder),
    /// Reply: [`Reply::Report`] after the trial.
    Run(ClientOrder),
    /// Wait for the server to end. Reply: [`Reply::Report`].
    Collect { token: Token },
    /// Start probes before there is traffic. Reply: [`Reply::Observing`] once they are active.
    Observe(ObserveOrder),
    /// Read and stop the probes. Reply: [`Reply::Observed`].
    Observed { token: Token },
    /// Send single unfragmented packets to the UDP server. Reply: [`Reply::Mtu`].
    ProbeMtu(MtuProbe),
    /// Find the size above which packets to the UDP server are lost without an ICMP error. Reply: [`Reply::Hole`].
    FindHole(MtuProbe),
    /// Send this many unfragmented packets to the UDP server, even if they do not arrive. Reply:
    /// [`Reply::Done`].
    SendPackets { probe: MtuProbe, count: u32 },
    /// Operate on the guest's memory, in virtual machines only. Reply: [`Reply::Memory`].
    Memory { work: MemoryOrder },
    /// Close the trial and discard its results. Reply: [`Reply::Done`].
    Abandon { token: Token },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerOrder {
    pub token: Token,
    pub bind: IpAddr,
    pub load: WorkloadSettings,
    /// Thread n is pinned to entry n. If there are more threads than entries, the list repeats. If `None`,
    /// threads are not pinned.
    pub cpus: Option<Vec<u32>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientOrder {
    pub token: Token,
    pub bind: IpAddr,
    pub server: IpAddr,
    pub port: u16,
    pub load: WorkloadSettings,
    pub cpus: Option<Vec<u32>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MtuProbe {
    pub token: Token,
    pub bind: IpAddr,
    pub server: IpAddr,
    pub port: u16,
    pub mtu: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromAgent {
    Hello(Hello),
    /// Sent about ten times per second, only for the live view.
    Progress(Progress),
    Reply {
        id: u64,
        reply: Box<Reply>,
    },
    Refused {
        id: u64,
        reason: String,
        unsupported: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub token: Token,
    pub elapsed: Nanos,
    pub received: Bytes,
    pub round_trips: u64,
    pub covers: Nanos,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "one at a time, and boxed for sending")]
pub enum Reply {
    Environment(Environment),
    Interface {
        end: PathEnd,
        mtu: u32,
    },
    Reserved {
        others: Vec<String>,
    },
    Occupied {
        by: String,
    },
    DeviceStates {
        states: Vec<DeviceState>,
    },
    DeviceCounters {
        counters: Vec<DeviceCounters>,
        hosts: Vec<HostCounters>,
    },
    Listening {
        port: u16,
    },
    Observing(Observing),
    Observed(Observation),
    Report(EndReport),
    Mtu(MtuResult),
    /// `None` if packets of the probed size arrive, or if an ICMP error reported that they do not fit.
    Hole(Option<MtuHole>),
    Memory {
        done: MemoryReply,
    },
    Done,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndReport {
    pub measured: EndMeasurement,
    pub threads: Vec<ThreadCpu>,
    /// CPU time between the first and the last byte at this end.
    pub machine: MachineCpu,
    /// Counters for the same period, or `None` if the kernel does not report them.
    pub softnet: Option<SoftnetCounters>,
    pub stalled: Nanos,
    /// How much a CPU quota slowed this end down. Its `end` field is empty.
    #[serde(default)]
    pub throttled: Option<CpuThrottling>,
}

/// Sizes of IP packets in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MtuHole {
    pub carried: u32,
    pub lost: u32,
    pub is_known: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MtuResult {
    pub carried: bool,
    pub larger_refused: bool,
}
