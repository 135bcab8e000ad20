//! The messages, one JSON object per line. Both sides first send [`Hello`].
//!
//! Messages from guests are externally tagged, so that the receiver knows the type first and never buffers arbitrary JSON.

use std::{collections::BTreeMap, net::Ipv4Addr};

use samples::{DeviceCounters, DeviceState, Environment, MachineCpu, SoftnetCounters, ThreadCpu};
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
pub enum ToAgent {
    Hello(Hello),
    /// Each gets exactly one reply, in any order.
    Request {
        id: u64,
        /// Time from arrival after which the agent gives up and refuses.
        deadline: Nanos,
        order: Order,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "kebab-case")]
pub enum Order {
    /// Describe this machine. Reply: [`Reply::Environment`].
    Describe,
    /// Configure this guest's devices according to the lab, or create the part of the lab on this existing host, whose
    /// interface has been found. Reply: [`Reply::Done`].
    ConfigureNetwork {
        /// The part of the lab for this host.
        lab: Box<Lab>,
        /// The guest, or the existing host.
        host: HostName,
    },
    /// Find the interface of this existing host. Reply: [`Reply::Interface`].
    FindInterface {
        host: HostName,
        /// `None` uses the address of the SSH connection, or of `interface`.
        address: Option<Ipv4Addr>,
        interface: Option<DeviceName>,
    },
    /// Reserve the interface for this session. Reply: [`Reply::Reserved`] or [`Reply::Occupied`].
    Reserve { by: String },
    /// Release the reservation. Reply: [`Reply::Done`].
    Release,
    /// Apply these settings; settings left out are reset. Reply: [`Reply::Done`].
    Configure { devices: BTreeMap<DeviceRef, DeviceSettings> },
    /// Reply: [`Reply::DeviceStates`].
    ReadStates { devices: Vec<DeviceRef> },
    /// Reply: [`Reply::DeviceCounters`].
    ReadCounters { devices: Vec<DeviceRef> },
    /// Open a server. Reply: [`Reply::Listening`] once clients can connect.
    Serve(ServerOrder),
    /// Run the client. Reply: [`Reply::Report`] after the end of the trial.
    Run(ClientOrder),
    /// Wait for the end of the server. Reply: [`Reply::Report`].
    Collect { token: Token },
    /// Start probes before the traffic. Reply: [`Reply::Observing`] once they are active.
    Observe(ObserveOrder),
    /// Read and stop the probes. Reply: [`Reply::Observed`].
    Observed { token: Token },
    /// Send single unfragmented packets to the UDP server. Reply: [`Reply::Mtu`].
    ProbeMtu(MtuProbe),
    /// Runs in virtual machines only. Reply: [`Reply::Memory`].
    Memory { work: MemoryOrder },
    /// Close the trial and discard its numbers. Reply: [`Reply::Done`].
    Abandon { token: Token },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerOrder {
    pub token: Token,
    /// Address to listen on; the kernel chooses the port.
    pub bind: Ipv4Addr,
    pub load: WorkloadSettings,
    /// Thread n uses entry n, modulo the length; `None` leaves threads unpinned.
    pub cpus: Option<Vec<u32>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientOrder {
    pub token: Token,
    pub bind: Ipv4Addr,
    pub server: Ipv4Addr,
    pub port: u16,
    pub load: WorkloadSettings,
    pub cpus: Option<Vec<u32>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MtuProbe {
    pub token: Token,
    pub bind: Ipv4Addr,
    pub server: Ipv4Addr,
    pub port: u16,
    /// The size in bytes of the IP packet that should pass; a larger one should not.
    pub mtu: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromAgent {
    Hello(Hello),
    /// About ten times per second. For the live view only.
    Progress(Progress),
    Reply {
        id: u64,
        reply: Box<Reply>,
    },
    Refused {
        id: u64,
        reason: String,
        /// Repeating is useless.
        unsupported: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub token: Token,
    pub elapsed: Nanos,
    /// Stream payload since the last progress.
    pub received: Bytes,
    /// Completed round trips or connections since the last progress.
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
        beside: Vec<String>,
    },
    /// Another session has the interface.
    Occupied {
        by: String,
    },
    DeviceStates {
        states: Vec<DeviceState>,
    },
    DeviceCounters {
        counters: Vec<DeviceCounters>,
    },
    Listening {
        port: u16,
    },
    Observing(Observing),
    Observed(Observation),
    Report(EndReport),
    Mtu(MtuResult),
    Memory {
        done: MemoryReply,
    },
    /// To `abandon`, `configure-network`, `configure` and `release`.
    Done,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndReport {
    pub measured: EndMeasurement,
    pub threads: Vec<ThreadCpu>,
    /// CPU time from the first to the last byte at this end.
    pub machine: MachineCpu,
    /// Counters from the first to the last byte at this end; `None` if the kernel does not report them.
    pub softnet: Option<SoftnetCounters>,
    pub stalled: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MtuResult {
    pub carried: bool,
    pub larger_refused: bool,
}
