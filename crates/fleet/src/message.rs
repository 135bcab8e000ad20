//! What members and controllers tell each other beside a session's bytes, as JSON. Must not know how it is carried.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

/// The version of these messages, of the subjects and of frames.
pub(crate) const VERSION: u32 = 1;

/// A member that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberInfo {
    pub name: String,
    /// What its host calls itself.
    pub host: String,
    /// Its version of plumb.
    pub tool: String,
    /// The version of its messages.
    pub messages: u32,
    /// When it was started, in ms since 1970.
    pub since: i64,
    /// The network devices of its host, but for loopback.
    pub devices: Vec<String>,
    /// Where traffic goes when a scenario does not say; what is older does not tell.
    #[serde(default)]
    pub address: Option<Ipv4Addr>,
    /// Sessions that are under way.
    pub sessions: usize,
    /// Whether it starts no further agents for now.
    #[serde(default)]
    pub drained: bool,
    /// Drawn at its start: what tells two of one name apart.
    pub instance: String,
}

/// What a member can be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum MemberOrder {
    Drain(DrainOrder),
    Start(StartOrder),
}

/// What every order has, whatever else a later version says.
#[derive(Debug, Deserialize)]
pub(crate) struct OrderAddress {
    pub(crate) messages: u32,
    pub(crate) instance: String,
}

/// Asks a member to start no further agents until it is asked otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DrainOrder {
    pub(crate) messages: u32,
    pub(crate) instance: String,
    /// Or to start them again.
    pub(crate) drain: bool,
}

/// Asks a member to start an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StartOrder {
    pub(crate) messages: u32,
    /// Which of those of its name is meant.
    pub(crate) instance: String,
    /// What the session's subjects are called by.
    pub(crate) session: String,
    /// What for, which the member's log tells.
    pub(crate) run: String,
}

/// What a member answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OrderReply {
    Started,
    /// It was drained, or is so no more.
    Done,
    Refused {
        because: String,
    },
}

/// Something hard to guess, in hex.
pub(crate) fn drawn() -> String {
    let number = getrandom::u64().expect("the kernel has random numbers once it has booted");
    format!("{number:016x}")
}
