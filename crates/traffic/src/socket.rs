//! What TCP and UDP loads ask of their sockets alike: short waits, and what the kernel really gave.

use std::{
    io,
    net::{TcpStream, UdpSocket},
    time::Duration,
};

use samples::SocketFacts;
use units::Bytes;

use crate::error::Result;

/// The longest wait in the kernel: a loop looks this often whether it was asked to stop.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// Whether a call ended only because its wait did.
pub(crate) fn is_wait(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// What the kernel gave a TCP socket. Buffers grow by themselves, so ask at the end, before it is closed.
pub(crate) fn tcp_facts(socket: &TcpStream, cpus: Option<&[u32]>) -> SocketFacts {
    let addresses = (socket.local_addr(), socket.peer_addr());
    SocketFacts {
        congestion: sys::socket::congestion(socket).ok(),
        mss: sys::socket::mss(socket).ok(),
        send_buffer: bytes(sys::socket::send_buffer(socket)),
        receive_buffer: bytes(sys::socket::receive_buffer(socket)),
        cpus: cpus.map(<[u32]>::to_vec),
        addresses: pair(addresses),
        ..SocketFacts::default()
    }
}

/// What the kernel gave a connected UDP socket.
pub(crate) fn udp_facts(socket: &UdpSocket, cpus: Option<&[u32]>) -> SocketFacts {
    let addresses = (socket.local_addr(), socket.peer_addr());
    SocketFacts {
        congestion: None,
        mss: None,
        send_buffer: bytes(sys::socket::send_buffer(socket)),
        receive_buffer: bytes(sys::socket::receive_buffer(socket)),
        cpus: cpus.map(<[u32]>::to_vec),
        addresses: pair(addresses),
        ..SocketFacts::default()
    }
}

/// Waits of at most `tick`, both ways.
pub(crate) fn limit_waits(socket: impl std::os::fd::AsFd, tick: Duration) -> Result<()> {
    sys::socket::set_receive_timeout(&socket, Some(tick))?;
    sys::socket::set_send_timeout(&socket, Some(tick))?;
    Ok(())
}

fn bytes(size: sys::Result<usize>) -> Option<Bytes> {
    size.ok().map(|size| Bytes(size as u64))
}

fn pair<A: std::fmt::Display>((local, remote): (io::Result<A>, io::Result<A>)) -> Option<String> {
    Some(format!("{} -> {}", local.ok()?, remote.ok()?))
}
