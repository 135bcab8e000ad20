//! The requested and actual socket options of a workload.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

/// Socket options. `None` keeps the kernel's default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SocketSettings {
    /// TCP congestion control (TCP_CONGESTION).
    pub congestion: Option<String>,
    /// TCP maximum segment size, in bytes (TCP_MAXSEG).
    pub mss: Option<u32>,
    /// Send and receive buffer (SO_SNDBUF, SO_RCVBUF). The kernel doubles the size and disables autotuning.
    pub window: Option<Bytes>,
    /// Differentiated services code point, 0 to 63 (the upper six bits of IP_TOS).
    pub dscp: Option<u8>,
    /// TCP_NODELAY: send small messages immediately. Enabled by default for ping-pongs.
    pub nodelay: Option<bool>,
    /// Client port of the first connection; further connections use the following ports. Default: chosen by the
    /// kernel.
    pub source_port: Option<u16>,
    /// Port on which the trial's server listens. Default: chosen by the kernel. Ignored by a long-running server.
    pub server_port: Option<u16>,
    /// How long a receive may busy-poll the device queue (SO_BUSY_POLL; whole microseconds).
    pub busy_poll: Option<Nanos>,
}

impl SocketSettings {
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

/// The actual options of a socket.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SocketFacts {
    pub congestion: Option<String>,
    /// TCP maximum segment size for sending.
    pub mss: Option<u32>,
    /// Send buffer, as counted by the kernel. In limit mode, plumb limits it for zero-copy sends over a short path,
    /// unless the workload sets a window.
    pub send_buffer: Option<Bytes>,
    /// Receive buffer, as counted by the kernel.
    pub receive_buffer: Option<Bytes>,
    pub nodelay: Option<bool>,
    pub dscp: Option<u8>,
    /// How long a receive may busy-poll the device queue; zero disables it.
    pub busy_poll: Option<Nanos>,
    /// Whether data was spliced into the socket without a copy.
    pub zero_copy: bool,
    /// Maximum number of datagrams per send call (UDP_SEGMENT), or the maximum that one receive call returned
    /// (UDP_GRO).
    pub segments: Option<u32>,
    /// CPUs that the socket's thread was pinned to.
    pub cpus: Option<Vec<u32>>,
    /// CPUs that the socket's thread ran on, sampled a few times per second.
    pub ran_on: Vec<u32>,
    /// Both addresses as this end sees them, `local -> remote`.
    pub addresses: Option<String>,
}
