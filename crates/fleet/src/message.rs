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

impl MemberInfo {
    /// Whether its texts have no control characters.
    pub(crate) fn is_printable(&self) -> bool {
        let texts = [&self.name, &self.host, &self.tool].into_iter().chain(&self.devices);
        texts.flat_map(|text| text.chars()).all(|sign| !sign.is_control())
    }
}

/// Something hard to guess, in hex.
pub(crate) fn drawn() -> String {
    let number = getrandom::u64().expect("the kernel has random numbers once it has booted");
    format!("{number:016x}")
}
