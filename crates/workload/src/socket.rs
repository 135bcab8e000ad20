//! What is asked of every socket of a workload, and what the kernel really gave it and its thread.

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

/// What the kernel really gave a socket.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SocketFacts {
    /// Congestion control, of TCP.
    pub congestion: Option<String>,
    /// Largest segment it may send, of TCP.
    pub mss: Option<u32>,
    /// Send buffer, as the kernel counts it. Where limit mode sends without a copy over a short path, it was
    /// bounded unless the load has a window.
    pub send_buffer: Option<Bytes>,
    /// Receive buffer, as the kernel counts it.
    pub receive_buffer: Option<Bytes>,
    /// TCP_NODELAY, of TCP.
    pub nodelay: Option<bool>,
    /// Differentiated services code point.
    pub dscp: Option<u8>,
    /// How long a receive may poll the device's queue; zero is not at all.
    pub busy_poll: Option<Nanos>,
    /// Whether what it sent was spliced into the socket without a copy.
    pub zero_copy: bool,
    /// Most datagrams that one call may send (UDP_SEGMENT) or that one receive brought (UDP_GRO).
    pub segments: Option<u32>,
    /// Where its thread was pinned.
    pub cpus: Option<Vec<u32>>,
    /// The CPUs that its thread was seen on, a few looks a second.
    pub ran_on: Vec<u32>,
    /// Both addresses, `local -> remote`, as this end sees them.
    pub addresses: Option<String>,
}
