//! What either end of a load is told beside the load itself: addresses, token, CPUs.

use std::net::{IpAddr, SocketAddr};

/// The server's part of a load.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSpec<L> {
    /// The trial's secret: who does not know it is closed.
    pub token: u64,
    /// The address to listen on; the port is the kernel's choice.
    pub bind: IpAddr,
    /// What will be sent.
    pub load: L,
    /// CPUs of the traffic threads: thread n is bound to the one number n, from the start again after the last.
    /// `None` leaves them free.
    pub cpus: Option<Vec<u32>>,
}

/// The client's part of a load.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientSpec<L> {
    /// The trial's secret.
    pub token: u64,
    /// The address to connect from.
    pub bind: IpAddr,
    /// Where the server listens.
    pub server: SocketAddr,
    /// What to send.
    pub load: L,
    /// CPUs of the traffic threads, as the server's.
    pub cpus: Option<Vec<u32>>,
}

impl<L> ServerSpec<L> {
    /// The same with another load, or with a part of this one.
    pub(crate) fn with<M>(&self, load: M) -> ServerSpec<M> {
        ServerSpec { token: self.token, bind: self.bind, load, cpus: self.cpus.clone() }
    }
}

impl<L> ClientSpec<L> {
    /// The same with another load, or with a part of this one.
    pub(crate) fn with<M>(&self, load: M) -> ClientSpec<M> {
        ClientSpec { token: self.token, bind: self.bind, server: self.server, load, cpus: self.cpus.clone() }
    }
}
