//! Opens and binds nonblocking sockets.

use std::net::{SocketAddr, UdpSocket};

use socket2::{Domain, Protocol, Socket, Type};
use traffic::{Error, Result};

/// The kernel delivers a datagram to the socket connected to its sender, else to the one with the most specific
/// address.
pub(super) fn udp(address: SocketAddr) -> Result<UdpSocket> {
    let socket = socket(address, Type::DGRAM, Protocol::UDP)?;
    sys::socket::set_reuse_port(&socket, true)?;
    bind_udp(&socket, address)?;
    Ok(socket.into())
}

pub(super) fn bind_udp(socket: &Socket, address: SocketAddr) -> Result<()> {
    socket.bind(&address.into()).map_err(Error::socket("bind", || format!("{address} for UDP")))
}

pub(super) fn socket(address: SocketAddr, kind: Type, protocol: Protocol) -> Result<Socket> {
    let named = || address.to_string();
    let socket = Socket::new(Domain::for_address(address), kind, Some(protocol))
        .map_err(Error::socket("open a socket on", named))?;
    if address.is_ipv6() {
        socket.set_only_v6(true).map_err(Error::socket("prepare", named))?;
    }
    socket.set_nonblocking(true).map_err(Error::socket("prepare", named))?;
    Ok(socket)
}
