//! Settings of short-lived connections.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

use crate::SocketSettings;

/// TCP connections. Each client thread opens them one after another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectSettings {
    /// Client threads, each with one connection at a time.
    pub clients: u32,
    pub request: Bytes,
    pub response: Bytes,
    /// Measured time, without the warm-up.
    pub duration: Nanos,
    pub warmup: Nanos,
    pub socket: SocketSettings,
    pub interval: Nanos,
}

impl ConnectSettings {
    /// Defaults to one client, 64 bytes in each direction and no warm-up.
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
