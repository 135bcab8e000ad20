//! What the kernel really gave a socket and its thread.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

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
