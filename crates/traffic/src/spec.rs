//! Parameters of an end apart from the load: addresses, token, CPUs.

use std::net::{IpAddr, SocketAddr};

#[derive(Debug, Clone, PartialEq)]
pub struct ServerSpec<L> {
    /// Secret of the trial; connections without it are closed.
    pub token: u64,
    /// Address to listen on; the kernel chooses the port.
    pub bind: IpAddr,
    pub load: L,
    /// CPUs of the traffic threads, assigned round-robin; `None` does not pin them.
    pub cpus: Option<Vec<u32>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ClientSpec<L> {
    /// Secret of the trial.
    pub token: u64,
    /// Source address.
    pub bind: IpAddr,
    pub server: SocketAddr,
    pub load: L,
    /// CPUs of the traffic threads, as for the server.
    pub cpus: Option<Vec<u32>>,
}

impl<L> ServerSpec<L> {
    /// The same parameters with another load.
    pub(crate) fn with<M>(&self, load: M) -> ServerSpec<M> {
        ServerSpec { token: self.token, bind: self.bind, load, cpus: self.cpus.clone() }
    }
}

impl<L> ClientSpec<L> {
    /// The same parameters with another load.
    pub(crate) fn with<M>(&self, load: M) -> ClientSpec<M> {
        ClientSpec { token: self.token, bind: self.bind, server: self.server, load, cpus: self.cpus.clone() }
    }
}
