//! Listening sockets: each address for TCP and for UDP, on one port.

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpListener, UdpSocket},
};

use socket2::{Domain, Protocol, Socket, Type};
use traffic::{Error, Result};

use super::port_holder::PortHolder;

/// Connections that may wait in the kernel, if it allows so many.
const BACKLOG: i32 = 4096;
/// Ports of the kernel's choice that are tried; one may be free for TCP and taken for UDP.
const ATTEMPTS: u32 = 16;

/// Sockets that do not wait, TCP and UDP in the order of their addresses.
#[derive(Debug)]
pub(super) struct Listeners {
    pub(super) tcp: Vec<TcpListener>,
    pub(super) udp: Vec<UdpSocket>,
    pub(super) addresses: Vec<SocketAddr>,
    /// Opens further UDP sockets, where this process cannot any more.
    holder: Option<PortHolder>,
}

impl Listeners {
    /// Listens on every address. A kernel without IPv6 is forgiven where it was only one of several families
    /// in which everything was meant.
    pub(super) fn open(listen: &[SocketAddr]) -> Result<Self> {
        if listen.is_empty() {
            let (setting, value) = ("the addresses to listen on", "none".to_owned());
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

    /// From now on further UDP sockets are opened by a process beside this one, which stays who it is.
    pub(super) fn keep_ports(&mut self) -> Result<()> {
        self.holder = Some(PortHolder::start(&self.addresses)?);
        Ok(())
    }

    /// A further UDP socket on an address that is listened on.
    pub(super) fn further_udp(&self, address: SocketAddr) -> Result<UdpSocket> {
        self.holder.as_ref().map_or_else(|| udp(address), |holder| holder.udp(address))
    }

    /// The process that opens further UDP sockets, if there is one.
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
                sys::socket::set_destination_told(&socket, bound.is_ipv6())?;
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
    // Connections of an earlier server may linger; nobody can bind an address on which another listens.
    sys::socket::set_reuse_address(&socket, true)?;
    socket.bind(&address.into()).map_err(Error::socket("bind", named))?;
    socket.listen(BACKLOG).map_err(Error::socket("listen on", named))?;
    Ok(socket.into())
}

/// Bound while nobody else is, and shared from then on, with sockets of this user's only: it has the port to itself
/// at every moment. SO_REUSEADDR would share a UDP port with every user of the machine.
fn udp_listener(address: SocketAddr) -> Result<UdpSocket> {
    let socket = socket(address, Type::DGRAM, Protocol::UDP)?;
    bind_udp(&socket, address)?;
    sys::socket::set_reuse_port(&socket, true)?;
    Ok(socket.into())
}

/// A further UDP socket on the address of a listener: of those that fit a datagram, the kernel chooses the one that
/// is connected to its sender, and else one of those bound to the most of its address.
pub(super) fn udp(address: SocketAddr) -> Result<UdpSocket> {
    let socket = socket(address, Type::DGRAM, Protocol::UDP)?;
    sys::socket::set_reuse_port(&socket, true)?;
    bind_udp(&socket, address)?;
    Ok(socket.into())
}

fn bind_udp(socket: &Socket, address: SocketAddr) -> Result<()> {
    socket.bind(&address.into()).map_err(Error::socket("bind", || format!("{address} for UDP")))
}

fn socket(address: SocketAddr, kind: Type, protocol: Protocol) -> Result<Socket> {
    let named = || address.to_string();
    let socket = Socket::new(Domain::for_address(address), kind, Some(protocol))
        .map_err(Error::socket("open a socket on", named))?;
    if address.is_ipv6() {
        socket.set_only_v6(true).map_err(Error::socket("prepare", named))?;
    }
    socket.set_nonblocking(true).map_err(Error::socket("prepare", named))?;
    Ok(socket)
}
