//! JSON messages between members and controllers, without session data.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

/// Version of messages, subjects and frames.
pub(crate) const VERSION: u32 = 1;

/// A connected member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberInfo {
    pub name: String,
    /// Host name.
    pub host: String,
    /// Version of plumb.
    pub tool: String,
    /// Version of its messages.
    pub messages: u32,
    /// Start time, in ms since 1970.
    pub since: i64,
    /// Network devices of its host, without loopback.
    pub devices: Vec<String>,
    /// Default interface for traffic. Missing from older members.
    #[serde(default)]
    pub address: Option<Ipv4Addr>,
    /// Open sessions.
    pub sessions: usize,
    /// Whether it is drained.
    #[serde(default)]
    pub drained: bool,
    /// Random number that distinguishes members with the same name.
    pub instance: String,
}

/// A member's reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OrderReply {
    Started,
    /// Drained, or returned to service.
    Done,
    Refused {
        reason: String,
    },
}

impl MemberInfo {
    /// Whether its texts have no control characters.
    pub(crate) fn is_printable(&self) -> bool {
        let texts = [&self.name, &self.host, &self.tool].into_iter().chain(&self.devices);
        texts.flat_map(|text| text.chars()).all(|sign| !sign.is_control())
    }
}

/// A random number in hex.
pub(crate) fn drawn() -> String {
    let number = getrandom::u64().expect("the kernel has random numbers once it has booted");
    format!("{number:016x}")
}
