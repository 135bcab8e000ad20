//! Connections made, used for one request and its answer, and closed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

use crate::SocketSettings;

/// TCP connections, one after another on each of some threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectSettings {
    /// Threads of the client, each with one connection at a time.
    pub clients: u32,
    /// What the client sends on each.
    pub request: Bytes,
    /// What the server answers.
    pub response: Bytes,
    /// How long it is measured, the warm-up not counted.
    pub duration: Nanos,
    /// Left out at the start.
    pub warmup: Nanos,
    /// What is set on every socket.
    pub socket: SocketSettings,
    /// How often a sample is taken.
    pub interval: Nanos,
}

impl ConnectSettings {
    /// One client, 64 bytes there and 64 back, no warm-up, a sample every 100 ms.
    #[must_use]
    pub const fn new(duration: Nanos) -> Self {
        Self {
            clients: 1,
            request: Bytes(64),
            response: Bytes(64),
            duration,
            warmup: Nanos(0),
            socket: SocketSettings::kernel(),
            interval: Nanos::from_millis(100),
        }
    }
}
