//! The messages, one JSON object per line. Both sides first send [`Hello`].
//!
//! Messages from guests are externally tagged, so that the receiver knows the type first and never buffers arbitrary
//! JSON.

use std::{collections::BTreeMap, fmt, net::Ipv4Addr};

use samples::{DeviceCounters, DeviceState, Environment, MachineCpu, SoftnetCounters, ThreadCpu};
use scenario::{DeviceName, DeviceRef, DeviceSettings, HostName, Lab, PathEnd};
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};
use workload::{EndMeasurement, WorkloadSettings};

use crate::{
    memory::{MemoryOrder, MemoryReply},
    observe::{Observation, ObserveOrder, Observing},
};

/// Protocol version; both sides must use the same.
pub const VERSION: u32 = 9;

/// The first message of each side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The sender's [`VERSION`].
    pub protocol: u32,
    /// The sender's version of plumb, for the error message.
    pub tool: String,
}

/// A secret of a trial. Connections without it are closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(pub u64);

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToAgent {
    /// First message.
    Hello(Hello),
    /// A request. Each gets exactly one reply, in any order.
    Request {
        /// Returned in the reply; unique on this channel.
        id: u64,
        /// Time from arrival after which the agent gives up and refuses.
        deadline: Nanos,
        order: Order,
    },
}

/// The requests to an agent.
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
    /// Find the interface of this existing host, for use in further requests. Reply: [`Reply::Interface`].
    FindInterface {
        /// Its name in the scenario.
        host: HostName,
        /// Its address; `None` uses the one that SSH connected to, or that of `interface`.
        address: Option<Ipv4Addr>,
        interface: Option<DeviceName>,
    },
    /// Reserve the interface for this session. Reply: [`Reply::Reserved`], or [`Reply::Occupied`] if another session
    /// has it.
    Reserve {
        /// A name for this session, shown to others that wait.
        by: String,
    },
    /// Release the reservation. Reply: [`Reply::Done`].
    Release,
    /// Apply settings to the configured devices; settings left out are reset. Reply: [`Reply::Done`].
    Configure { devices: BTreeMap<DeviceRef, DeviceSettings> },
    /// Read the states of this host's devices. Reply: [`Reply::DeviceStates`].
    ReadStates { devices: Vec<DeviceRef> },
    /// Read the counters of this host's devices. Reply: [`Reply::DeviceCounters`].
    ReadCounters { devices: Vec<DeviceRef> },
    /// Open a server for a trial. Reply: [`Reply::Listening`] once clients can connect.
    Serve(ServerOrder),
    /// Run the client of a trial. Reply: [`Reply::Report`] after its end.
    Run(ClientOrder),
    /// Wait for the end of this server's trial. Reply: [`Reply::Report`].
    Collect { token: Token },
    /// Start probes before a trial's traffic. Reply: [`Reply::Observing`] once they are active.
    Observe(ObserveOrder),
    /// Read and stop the probes of a trial. Reply: [`Reply::Observed`].
    Observed { token: Token },
    /// Send single unfragmented packets to the trial's UDP server. Reply: [`Reply::Mtu`].
    ProbeMtu(MtuProbe),
    /// A memory operation, in virtual machines only. Reply: [`Reply::Memory`].
    Memory { work: MemoryOrder },
    /// Close everything of this trial and discard its numbers. Reply: [`Reply::Done`].
    Abandon { token: Token },
}

/// The server's part of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerOrder {
    pub token: Token,
    /// Address to listen on; the kernel chooses the port.
    pub bind: Ipv4Addr,
    pub load: WorkloadSettings,
    /// CPUs for traffic threads: thread n uses entry n, modulo the length; `None` leaves them unpinned.
    pub cpus: Option<Vec<u32>>,
}

/// The client's part of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientOrder {
    pub token: Token,
    pub bind: Ipv4Addr,
    pub server: Ipv4Addr,
    pub port: u16,
    pub load: WorkloadSettings,
    /// CPUs for traffic threads: thread n uses entry n, modulo the length; `None` leaves them unpinned.
    pub cpus: Option<Vec<u32>>,
}

/// A test of a path's MTU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MtuProbe {
    /// The trial with the UDP server.
    pub token: Token,
    pub bind: Ipv4Addr,
    pub server: Ipv4Addr,
    pub port: u16,
    /// Size of the IP packet that should pass, in bytes; a larger one should not.
    pub mtu: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromAgent {
    /// First message.
    Hello(Hello),
    /// Progress of a trial, about ten times per second. For the live view only.
    Progress(Progress),
    Reply {
        id: u64,
        reply: Box<Reply>,
    },
    /// The request failed.
    Refused {
        id: u64,
        /// The reason, with operation and object.
        reason: String,
        /// Whether the kernel does not support it, so that retrying is useless.
        unsupported: bool,
    },
}

/// Progress of a running trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub token: Token,
    /// Time since its start at this end.
    pub elapsed: Nanos,
    /// Stream payload received by this end since the last progress.
    pub received: Bytes,
    /// Round trips (ping-pongs) or completed connections since the last progress.
    pub round_trips: u64,
    /// Time covered by this progress.
    pub covers: Nanos,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "one at a time, and boxed for sending")]
pub enum Reply {
    /// To `describe`.
    Environment(Environment),
    /// To `find-interface`.
    Interface {
        end: PathEnd,
        mtu: u32,
    },
    /// To `reserve`.
    Reserved {
        /// Other measurements on the machine, which share its CPUs.
        beside: Vec<String>,
    },
    /// To `reserve`, if another session has the interface.
    Occupied {
        by: String,
    },
    /// To `read-states`.
    DeviceStates {
        states: Vec<DeviceState>,
    },
    /// To `read-counters`.
    DeviceCounters {
        counters: Vec<DeviceCounters>,
    },
    /// To `serve`.
    Listening {
        port: u16,
    },
    /// To `observe`.
    Observing(Observing),
    Observed(Observation),
    /// To `run` and `collect`.
    Report(EndReport),
    /// To `probe-mtu`.
    Mtu(MtuResult),
    Memory {
        done: MemoryReply,
    },
    /// To `abandon`, `configure-network`, `configure` and `release`.
    Done,
}

/// One end's record of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndReport {
    pub measured: EndMeasurement,
    /// CPU time of traffic threads.
    pub threads: Vec<ThreadCpu>,
    /// CPU time of the machine, from the first to the last byte at this end.
    pub machine: MachineCpu,
    /// Backlog queue counters of the machine, from the first to the last byte at this end; `None` if the kernel does
    /// not report them.
    pub softnet: Option<SoftnetCounters>,
    /// Longest time for which this process did not run, beyond normal scheduling.
    pub stalled: Nanos,
}

/// The result of an MTU test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MtuResult {
    /// Whether the packet came back.
    pub carried: bool,
    /// Whether a packet with one more byte was rejected or lost.
    pub larger_refused: bool,
}
