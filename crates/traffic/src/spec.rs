//! What either end of a load is told beside the load itself: addresses, token, CPUs.

use std::net::{Ipv4Addr, SocketAddrV4};

/// The server's part of a load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec<L> {
    /// The trial's secret: who does not know it is closed.
    pub token: u64,
    /// The address to listen on; the port is the kernel's choice.
    pub bind: Ipv4Addr,
    /// What will be sent.
    pub load: L,
    /// CPUs for the traffic threads, each of them bound to all of these; `None` leaves them free.
    pub cpus: Option<Vec<u32>>,
}

/// The client's part of a load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSpec<L> {
    /// The trial's secret.
    pub token: u64,
    /// The address to connect from.
    pub bind: Ipv4Addr,
    /// Where the server listens.
    pub server: SocketAddrV4,
    /// What to send.
    pub load: L,
    /// CPUs for the traffic threads, each of them bound to all of these; `None` leaves them free.
    pub cpus: Option<Vec<u32>>,
}
