//! TCP and UDP listeners for all addresses, on the same port.

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpListener, UdpSocket},
};

use socket2::{Protocol, Type};
use traffic::{Error, Result};

use super::{
    port_holder::PortHolder,
    sockets::{bind_udp, socket, udp},
};

const BACKLOG: i32 = 4096;
const ATTEMPTS: u32 = 16;

#[derive(Debug)]
pub(super) struct Listeners {
    pub(super) tcp: Vec<TcpListener>,
    pub(super) udp: Vec<UdpSocket>,
    pub(super) addresses: Vec<SocketAddr>,
    holder: Option<PortHolder>,
}

impl Listeners {
    /// When listening on all addresses, a missing IPv6 stack is not an error.
    pub(super) fn open(listen: &[SocketAddr]) -> Result<Self> {
        if listen.is_empty() {
            let (setting, value) = ("listen addresses", "none".to_owned());
            return Err(Error::Setting { setting, value, allowed: "at least one" });
        }
        let mut attempt = 1;
        loop {
            match Self::try_open(listen) {
                Err(Error::Socket { source, .. })
                    if source.kind() == io::ErrorKind::AddrInUse
                        && attempt < ATTEMPTS
                        && listen.iter().any(|address| address.port() == 0) =>
                {
                    attempt += 1;
                }
                other => return other,
            }
        }
    }

    pub(super) fn start_port_holder(&mut self) -> Result<()> {
        self.holder = Some(PortHolder::start(&self.addresses)?);
        Ok(())
    }

    pub(super) fn further_udp(&self, address: SocketAddr) -> Result<UdpSocket> {
        self.holder.as_ref().map_or_else(|| udp(address), |holder| holder.udp(address))
    }

    pub(super) const fn holder(&self) -> Option<&PortHolder> {
        self.holder.as_ref()
    }

    fn try_open(listen: &[SocketAddr]) -> Result<Self> {
        let mut opened = Self { tcp: Vec::new(), udp: Vec::new(), addresses: Vec::new(), holder: None };
        let mut chosen = 0;
        for address in listen {
            let mut address = *address;
            if address.port() == 0 {
                address.set_port(chosen);
            }
            let tcp = match tcp(address) {
                Err(Error::Socket { source, .. }) if listen.len() > 1 && is_absent(address, &source) => {
                    continue;
                }
                other => other?,
            };
            let named = || address.to_string();
            let bound = tcp.local_addr().map_err(Error::socket("read the address of", named))?;
            if address.port() == 0 {
                chosen = bound.port();
            }
            let socket = udp_listener(bound)?;
            if bound.ip().is_unspecified() {
                sys::socket::set_destination_reported(&socket, bound.is_ipv6())?;
            }
            opened.udp.push(socket);
            opened.tcp.push(tcp);
            opened.addresses.push(bound);
        }
        Ok(opened)
    }
}

fn is_absent(address: SocketAddr, error: &io::Error) -> bool {
    const EAFNOSUPPORT: i32 = 97;
    const EADDRNOTAVAIL: i32 = 99;
    let everything = address.ip() == IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED);
    everything && matches!(error.raw_os_error(), Some(EAFNOSUPPORT | EADDRNOTAVAIL))
}

fn tcp(address: SocketAddr) -> Result<TcpListener> {
    let named = || format!("{address} for TCP");
    let socket = socket(address, Type::STREAM, Protocol::TCP)?;
    // Allows binding while an earlier server's connections are in TIME-WAIT. Two listeners still cannot share an
    // address.
    sys::socket::set_reuse_address(&socket, true)?;
    socket.bind(&address.into()).map_err(Error::socket("bind", named))?;
    socket.listen(BACKLOG).map_err(Error::socket("listen on", named))?;
    Ok(socket.into())
}

/// Binds the port exclusively, and only then shares it with sockets of the same user (SO_REUSEPORT), so that
/// no other user can ever bind it. SO_REUSEADDR would share a UDP port with all users.
fn udp_listener(address: SocketAddr) -> Result<UdpSocket> {
    let socket = socket(address, Type::DGRAM, Protocol::UDP)?;
    bind_udp(&socket, address)?;
    sys::socket::set_reuse_port(&socket, true)?;
    Ok(socket.into())
}
