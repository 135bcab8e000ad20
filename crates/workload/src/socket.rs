//! What is asked of every socket of a load; what the kernel really gave is recorded with the result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

/// Socket options. `None` leaves what the kernel has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SocketSettings {
    /// Congestion control, of TCP (TCP_CONGESTION).
    pub congestion: Option<String>,
    /// Largest segment, of TCP (TCP_MAXSEG), in bytes.
    pub mss: Option<u32>,
    /// Send and receive buffer (SO_SNDBUF, SO_RCVBUF), which the kernel doubles; stops their growth.
    pub window: Option<Bytes>,
    /// Differentiated services code point, 0 to 63 (the upper six bits of IP_TOS).
    pub dscp: Option<u8>,
    /// TCP_NODELAY: small messages leave at once. Ping-pongs have it unless it is switched off.
    pub nodelay: Option<bool>,
    /// The client's port of the first connection; each further one has the next. Else the kernel chooses.
    pub source_port: Option<u16>,
    /// The port that the server of a trial listens on. Else the kernel chooses. A standing server has its own.
    pub server_port: Option<u16>,
    /// How long a receive may poll the device's queue (SO_BUSY_POLL; whole microseconds).
    pub busy_poll: Option<Nanos>,
}

impl SocketSettings {
    /// Everything as the kernel has it.
    #[must_use]
    pub const fn kernel() -> Self {
        Self {
            congestion: None,
            mss: None,
            window: None,
            dscp: None,
            nodelay: None,
            source_port: None,
            server_port: None,
            busy_poll: None,
        }
    }
}
