//! The JSON messages between members and controllers.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

pub(crate) const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberInfo {
    pub name: String,
    pub host: String,
    pub tool: String,
    pub messages: u32,
    /// Milliseconds since 1970.
    pub since: i64,
    pub devices: Vec<String>,
    #[serde(default)]
    pub address: Option<IpAddr>,
    pub sessions: usize,
    #[serde(default)]
    pub drained: bool,
    pub instance: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OrderReply {
    Started,
    Done,
    Refused { reason: String },
}

impl MemberInfo {
    pub(crate) fn is_printable(&self) -> bool {
        let texts = [&self.name, &self.host, &self.tool].into_iter().chain(&self.devices);
        texts.flat_map(|text| text.chars()).all(|sign| !sign.is_control())
    }
}

pub(crate) fn drawn() -> String {
    let number = getrandom::u64().expect("the kernel has random numbers once it has booted");
    format!("{number:016x}")
}
