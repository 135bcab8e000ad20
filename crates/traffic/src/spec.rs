//! The parameters of one end, except for its workload.

use std::net::{IpAddr, SocketAddr};

#[derive(Debug, Clone, PartialEq)]
pub struct ServerSpec<L> {
    pub token: u64,
    pub bind: IpAddr,
    pub load: L,
    pub cpus: Option<Vec<u32>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ClientSpec<L> {
    pub token: u64,
    pub bind: IpAddr,
    pub server: SocketAddr,
    pub load: L,
    pub cpus: Option<Vec<u32>>,
}

impl<L> ServerSpec<L> {
    pub(crate) fn with<M>(&self, load: M) -> ServerSpec<M> {
        ServerSpec { token: self.token, bind: self.bind, load, cpus: self.cpus.clone() }
    }
}

impl<L> ClientSpec<L> {
    pub(crate) fn with<M>(&self, load: M) -> ClientSpec<M> {
        ClientSpec { token: self.token, bind: self.bind, server: self.server, load, cpus: self.cpus.clone() }
    }
}
