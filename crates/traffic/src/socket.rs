//! Socket operations shared by workloads and protocols.

use std::{
    io,
    net::{SocketAddr, TcpStream, UdpSocket},
    os::fd::AsFd,
    time::Duration,
};

use socket2::{Domain, SockRef, Type};
use units::{Bytes, Nanos};
use workload::{SocketFacts, SocketSettings};

use crate::error::{Error, Result};

/// The interval at which loops check whether they should stop.
pub const TICK: Duration = Duration::from_millis(50);

/// Excludes ETIMEDOUT, which means a lost connection.
pub fn is_wait(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// TCP options are skipped on UDP sockets. Accepted connections inherit the listener's options. The maximum segment
/// size can be set only before connecting.
pub fn apply(socket: &impl AsFd, settings: &SocketSettings, before_connect: bool) -> Result<()> {
    let stream = SockRef::from(socket).r#type().is_ok_and(|kind| kind == Type::STREAM);
    if let Some(window) = settings.window {
        let bytes = usize::try_from(window.0).unwrap_or(usize::MAX).min(i32::MAX as usize);
        sys::socket::set_send_buffer(socket, bytes)?;
        sys::socket::set_receive_buffer(socket, bytes)?;
    }
    if let Some(dscp) = settings.dscp {
        sys::socket::set_tos(socket, type_of_service(dscp)?)?;
    }
    if let Some(time) = settings.busy_poll {
        sys::socket::set_busy_poll(socket, u32::try_from(time.0 / 1000).unwrap_or(u32::MAX))?;
    }
    if stream { apply_tcp(socket, settings, before_connect) } else { Ok(()) }
}

fn apply_tcp(socket: &impl AsFd, settings: &SocketSettings, before_connect: bool) -> Result<()> {
    if let Some(congestion) = &settings.congestion {
        sys::socket::set_congestion(socket, congestion)?;
    }
    if let Some(mss) = settings.mss.filter(|_| before_connect) {
        sys::socket::set_mss(socket, mss)?;
    }
    if let Some(on) = settings.nodelay {
        sys::socket::set_nodelay(socket, on)?;
    }
    Ok(())
}

fn type_of_service(dscp: u8) -> Result<u8> {
    if dscp < 64 {
        return Ok(dscp << 2);
    }
    Err(Error::Setting { setting: "the DSCP", value: dscp.to_string(), allowed: "0 to 63" })
}

/// Returns the source address. Its port is the requested port plus `number`, or 0 for any port.
pub fn source(bind: std::net::IpAddr, settings: &SocketSettings, number: u32) -> Result<SocketAddr> {
    let Some(first) = settings.source_port else { return Ok(SocketAddr::new(bind, 0)) };
    let port = u32::from(first) + number;
    let port = u16::try_from(port).map_err(|_| Error::Setting {
        setting: "the source port",
        value: port.to_string(),
        allowed: "one that leaves room below 65536 for every connection",
    })?;
    Ok(SocketAddr::new(bind, port))
}

pub fn domain(address: SocketAddr) -> Domain {
    Domain::for_address(address)
}

/// Returns whether this or an earlier datagram was dropped. EMSGSIZE: too large for the path, perhaps after an ICMP
/// error. ENOBUFS: the device's queue is full.
pub fn is_dropped(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(90 | 105))
}

/// Reads TCP_INFO and the buffer sizes. Call this right before closing, because the kernel keeps tuning buffer sizes.
pub fn tcp_facts(socket: &TcpStream, cpus: Option<&[u32]>) -> SocketFacts {
    SocketFacts {
        congestion: sys::socket::congestion(socket).ok(),
        mss: sys::socket::mss(socket).ok(),
        nodelay: sys::socket::nodelay(socket).ok(),
        ..facts(socket, cpus, (socket.local_addr(), socket.peer_addr()))
    }
}

pub fn udp_facts(socket: &UdpSocket, cpus: Option<&[u32]>) -> SocketFacts {
    facts(socket, cpus, (socket.local_addr(), socket.peer_addr()))
}

fn facts<A: std::fmt::Display>(
    socket: &impl AsFd,
    cpus: Option<&[u32]>,
    addresses: (io::Result<A>, io::Result<A>),
) -> SocketFacts {
    SocketFacts {
        send_buffer: bytes(sys::socket::send_buffer(socket)),
        receive_buffer: bytes(sys::socket::receive_buffer(socket)),
        dscp: sys::socket::tos(socket).ok().map(|tos| tos >> 2),
        busy_poll: sys::socket::busy_poll(socket).ok().map(|micros| Nanos(u64::from(micros) * 1000)),
        cpus: cpus.map(<[u32]>::to_vec),
        addresses: pair(addresses),
        ..SocketFacts::default()
    }
}

pub fn limit_waits(socket: impl AsFd, tick: Duration) -> Result<()> {
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
