//! The messages, one JSON object a line. Both sides first say [`Hello`].
//!
//! What a guest may send is named by a key, not by a member beside others: whoever reads it then knows its type from the start,
//! and has never to hold a line of any shape in memory before.

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

/// The version of this protocol. Both sides must have the same.
pub const VERSION: u32 = 9;

/// The first message of either side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`VERSION`] of the speaker.
    pub protocol: u32,
    /// The speaker's version of plumb, for the error message.
    pub tool: String,
}

/// A secret of one trial: a stranger's connection does not know it and is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(pub u64);

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// From the controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToAgent {
    /// First.
    Hello(Hello),
    /// Something to do. Requests are answered in any order, each exactly once.
    Request {
        /// Repeated in the answer; unique on this channel.
        id: u64,
        /// After this long from its arrival the agent gives up and refuses.
        deadline: Nanos,
        /// What to do.
        order: Order,
    },
}

/// What an agent can be asked to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "kebab-case")]
pub enum Order {
    /// Tell what machine this is: answered by [`Reply::Environment`].
    Describe,
    /// Give this guest's devices what the lab says of them, or make what of it is on this host, which exists already and whose
    /// interface was found: answered by [`Reply::Done`].
    Dress {
        /// The host's part of the lab.
        lab: Box<Lab>,
        /// The guest, or the host.
        host: HostName,
    },
    /// Find the device by which this host, which exists already, sends and receives, and read it from then on: answered by
    /// [`Reply::Interface`].
    FindInterface {
        /// What the scenario calls it.
        host: HostName,
        /// The address that it has; `None` is the one at which SSH arrived, or that of `interface`.
        address: Option<Ipv4Addr>,
        interface: Option<DeviceName>,
    },
    /// Take that device for this session alone: answered by [`Reply::Reserved`], or [`Reply::Occupied`] where another has it.
    Reserve {
        /// Who wants it, for whoever has to wait.
        by: String,
    },
    /// Let go of it: answered by [`Reply::Done`].
    Release,
    /// Set the devices that it was dressed with; what is left out goes back to what it was: answered by [`Reply::Done`].
    Configure {
        /// The devices that differ from what they were made with.
        devices: BTreeMap<DeviceRef, DeviceSettings>,
    },
    /// Read the state of this host's devices: answered by [`Reply::DeviceStates`].
    ReadStates { devices: Vec<DeviceRef> },
    /// Read what this host's devices counted since they were made: answered by [`Reply::DeviceCounters`].
    ReadCounters { devices: Vec<DeviceRef> },
    /// Open a server for one trial: answered by [`Reply::Listening`] once clients may connect.
    Serve(ServerOrder),
    /// Be the client of one trial: answered by [`Reply::Report`] when it is over.
    Run(ClientOrder),
    /// Await the end of the trial that this server has open: answered by [`Reply::Report`].
    Collect {
        /// The trial's token.
        token: Token,
    },
    /// Watch a trial with probes, from before its traffic on: answered by [`Reply::Observing`] once they look.
    Observe(ObserveOrder),
    /// Read the probes of this trial and take them away: answered by [`Reply::Observed`].
    Observed {
        /// The trial's token.
        token: Token,
    },
    /// Send single unfragmented packets to a UDP server of the token: answered by [`Reply::Mtu`].
    ProbeMtu(MtuProbe),
    /// Do something with this guest's memory: answered by [`Reply::Memory`]. Of a virtual machine only.
    Memory { work: MemoryOrder },
    /// Close whatever this token has open, its trial's numbers thrown away: answered by [`Reply::Done`].
    Abandon {
        /// The trial's token.
        token: Token,
    },
}

/// The server's part of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerOrder {
    /// The trial.
    pub token: Token,
    /// The address to listen on; the port is the kernel's choice.
    pub bind: Ipv4Addr,
    /// What will be sent.
    pub load: WorkloadSettings,
    /// CPUs for its traffic threads: thread n on the one number n, from the start again after the last; `None`
    /// leaves them free.
    pub cpus: Option<Vec<u32>>,
}

/// The client's part of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientOrder {
    /// The trial.
    pub token: Token,
    /// The address to connect from.
    pub bind: Ipv4Addr,
    pub server: Ipv4Addr,
    pub port: u16,
    /// What to send.
    pub load: WorkloadSettings,
    /// CPUs for its traffic threads: thread n on the one number n, from the start again after the last; `None`
    /// leaves them free.
    pub cpus: Option<Vec<u32>>,
}

/// A probe of what a path carries unfragmented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MtuProbe {
    /// The trial whose UDP server answers.
    pub token: Token,
    /// The address to send from.
    pub bind: Ipv4Addr,
    pub server: Ipv4Addr,
    pub port: u16,
    /// The IP packet that should pass, in bytes; one byte more should not.
    pub mtu: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromAgent {
    /// First.
    Hello(Hello),
    /// A trial under way, about ten times a second; for the live view only.
    Progress(Progress),
    Reply {
        /// The request's.
        id: u64,
        /// The answer.
        reply: Box<Reply>,
    },
    /// A request that could not be met.
    Refused {
        /// The request's.
        id: u64,
        /// Why, naming operation and object.
        because: String,
        /// Whether the kernel lacks what it needs, so that it would never be met here.
        unsupported: bool,
    },
}

/// A trial under way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The trial.
    pub token: Token,
    /// Since its start at this end.
    pub elapsed: Nanos,
    /// Payload received since the last progress (streams) by this end.
    pub received: Bytes,
    /// Round trips (ping-pongs), or connections made and closed, since the last progress.
    pub round_trips: u64,
    /// The time that this covers.
    pub covers: Nanos,
}

/// Answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "one at a time, and boxed where it is sent")]
pub enum Reply {
    /// To `describe`.
    Environment(Environment),
    /// To `find-interface`.
    Interface {
        end: PathEnd,
        mtu: u32,
    },
    /// To `reserve`: the session has it.
    Reserved {
        /// Other measurements on that machine, which share its CPUs.
        beside: Vec<String>,
    },
    /// To `reserve`, where another session has it.
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
    /// To `abandon`, `dress`, `configure` and `release`.
    Done,
}

/// What one end recorded of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndReport {
    pub measured: EndMeasurement,
    /// The traffic threads' CPU time.
    pub threads: Vec<ThreadCpu>,
    /// The machine's CPU time from the first to the last byte at this end.
    pub machine: MachineCpu,
    /// What the machine's backlog queues counted from the first to the last byte at this end; `None` where the kernel
    /// does not tell.
    pub softnet: Option<SoftnetCounters>,
    /// The longest time for which this process gave no sign of itself, beyond what is usual.
    pub stalled: Nanos,
}

/// What a path carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MtuResult {
    /// Whether the packet of the asked size came back.
    pub carried: bool,
    /// Whether one byte more was refused or lost.
    pub larger_refused: bool,
}
