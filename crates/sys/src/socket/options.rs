//! Options of sockets, set and read back.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::net::AddressFamily;
use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, Timeout};

use super::integer::{self, get_int};
use super::named;
use crate::error::{Context, Result};

/// The shortest time that keepalive knows.
const KEEPALIVE: Duration = Duration::from_secs(1);

/// Chooses the congestion control of one TCP socket. ENOENT: the kernel has no such algorithm;
/// EPERM: it may be used by root only (`net.ipv4.tcp_allowed_congestion_control`).
pub fn set_congestion(fd: impl AsFd, algorithm: &str) -> Result<()> {
    let set = sockopt::set_tcp_congestion(&fd, algorithm).named("set congestion control", || algorithm);
    set.map_err(|error| match error.is_permission() {
        true => {
            error.with_hint("without CAP_NET_ADMIN only those of net.ipv4.tcp_allowed_congestion_control")
        }
        false => error,
    })
}

/// Whether the kernel has this congestion control now, without a module that it would load for the asking.
#[expect(clippy::disallowed_methods, reason = "the kernel lists them in a file")]
#[must_use]
pub fn has_congestion(algorithm: &str) -> bool {
    let available = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    available.is_ok_and(|names| names.split_whitespace().any(|name| name == algorithm))
}

/// The congestion control that a TCP socket uses.
pub fn congestion(fd: impl AsFd) -> Result<String> {
    sockopt::tcp_congestion(&fd).named("read congestion control of", || named(&fd))
}

/// Whether small messages are sent at once (true) or gathered (Nagle's algorithm).
pub fn set_nodelay(fd: impl AsFd, on: bool) -> Result<()> {
    sockopt::set_tcp_nodelay(&fd, on).named("set TCP_NODELAY on", || named(&fd))
}

/// Whether small messages are sent at once: see [`set_nodelay`].
pub fn nodelay(fd: impl AsFd) -> Result<bool> {
    sockopt::tcp_nodelay(&fd).named("read TCP_NODELAY of", || named(&fd))
}

/// Asks for a send buffer of `bytes` (SO_SNDBUF, socket(7)) and ends its automatic growth. The kernel cuts what
/// exceeds `net.core.wmem_max` without a word and doubles the rest: read [`send_buffer`] back.
pub fn set_send_buffer(fd: impl AsFd, bytes: usize) -> Result<()> {
    sockopt::set_socket_send_buffer_size(&fd, bytes).named("set send buffer of", || named(&fd))
}

/// The size in bytes to which the kernel lets the send buffer of a TCP socket grow (`net.ipv4.tcp_wmem`); the kernel's
/// default if that cannot be read.
#[expect(clippy::disallowed_methods, reason = "the kernel has it in a file")]
#[must_use]
pub fn largest_send_buffer() -> usize {
    const DEFAULT: usize = 4 << 20;
    let sizes = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_wmem");
    sizes.ok().and_then(|sizes| sizes.split_whitespace().nth(2)?.parse().ok()).unwrap_or(DEFAULT)
}

/// Like [`set_send_buffer`], for receiving (SO_RCVBUF, `net.core.rmem_max`). For TCP before it is connected,
/// so that the window can grow to it.
pub fn set_receive_buffer(fd: impl AsFd, bytes: usize) -> Result<()> {
    sockopt::set_socket_recv_buffer_size(&fd, bytes).named("set receive buffer of", || named(&fd))
}

/// The size of the send buffer in bytes, as the kernel accounts it: twice what was asked for.
pub fn send_buffer(fd: impl AsFd) -> Result<usize> {
    sockopt::socket_send_buffer_size(&fd).named("read send buffer of", || named(&fd))
}

/// Like [`send_buffer`], for receiving.
pub fn receive_buffer(fd: impl AsFd) -> Result<usize> {
    sockopt::socket_recv_buffer_size(&fd).named("read receive buffer of", || named(&fd))
}

/// The segment size that a TCP socket sends with, in bytes.
pub fn mss(fd: impl AsFd) -> Result<u32> {
    let value = get_int(&fd, libc::IPPROTO_TCP, linux_raw_sys::net::TCP_MAXSEG, "read TCP_MAXSEG of")?;
    Ok(value.unsigned_abs())
}

/// Bounds the segment size of a TCP socket, in bytes (TCP_MAXSEG, tcp(7)); before it is connected. EINVAL: the
/// kernel takes 88 to 32,767.
pub fn set_mss(fd: impl AsFd, bytes: u32) -> Result<()> {
    let value = i32::try_from(bytes).unwrap_or(i32::MAX);
    integer::set(&fd, libc::IPPROTO_TCP, linux_raw_sys::net::TCP_MAXSEG, value, "set TCP_MAXSEG of")
}

/// Lets a blocking receive spin on the queue of the device for so many microseconds before it sleeps
/// (SO_BUSY_POLL, socket(7)). EPERM: more than before takes CAP_NET_ADMIN.
pub fn set_busy_poll(fd: impl AsFd, microseconds: u32) -> Result<()> {
    let value = i32::try_from(microseconds).unwrap_or(i32::MAX);
    integer::set(&fd, libc::SOL_SOCKET, linux_raw_sys::net::SO_BUSY_POLL, value, "set SO_BUSY_POLL on")
}

/// For how many microseconds a receive spins: see [`set_busy_poll`].
pub fn busy_poll(fd: impl AsFd) -> Result<u32> {
    let name = linux_raw_sys::net::SO_BUSY_POLL;
    Ok(get_int(&fd, libc::SOL_SOCKET, name, "read SO_BUSY_POLL of")?.unsigned_abs())
}

/// The type of service byte of what is sent: DSCP in the upper six bits (IP_TOS, ip(7); the traffic class of
/// IPv6). TCP keeps the lower two, which are congestion notification, to itself.
pub fn set_tos(fd: impl AsFd, tos: u8) -> Result<()> {
    let result =
        if is_ipv6(&fd) { sockopt::set_ipv6_tclass(&fd, tos.into()) } else { sockopt::set_ip_tos(&fd, tos) };
    result.named("set type of service of", || named(&fd))
}

/// The type of service byte: see [`set_tos`].
pub fn tos(fd: impl AsFd) -> Result<u8> {
    if is_ipv6(&fd) {
        let class = sockopt::ipv6_tclass(&fd).named("read type of service of", || named(&fd))?;
        return Ok(u8::try_from(class).unwrap_or(u8::MAX));
    }
    sockopt::ip_tos(&fd).named("read type of service of", || named(&fd))
}

/// Allows to bind an address of which old connections still linger (SO_REUSEADDR, socket(7)). For TCP: a UDP port is
/// shared by it with every user of the machine who sets it too.
pub fn set_reuse_address(fd: impl AsFd, on: bool) -> Result<()> {
    sockopt::set_socket_reuseaddr(&fd, on).named("set SO_REUSEADDR on", || named(&fd))
}

/// Lets several sockets of one user bind the same address; the kernel spreads what comes (SO_REUSEPORT, socket(7)).
/// Each needs it before it is bound, but for the first, which may have had the address to itself until then. Whose a
/// socket is, is who opened it.
pub fn set_reuse_port(fd: impl AsFd, on: bool) -> Result<()> {
    sockopt::set_socket_reuseport(&fd, on).named("set SO_REUSEPORT on", || named(&fd))
}

/// Ends a TCP connection whose other end has acknowledged nothing for `limit`: ETIMEDOUT. Its kernel is asked once it
/// was silent for a second, and each second from then on (SO_KEEPALIVE, TCP_USER_TIMEOUT, tcp(7)).
pub fn set_keepalive(fd: impl AsFd, limit: Duration) -> Result<()> {
    let milliseconds = u32::try_from(limit.as_millis()).unwrap_or(u32::MAX);
    sockopt::set_tcp_user_timeout(&fd, milliseconds).named("set TCP_USER_TIMEOUT on", || named(&fd))?;
    sockopt::set_tcp_keepintvl(&fd, KEEPALIVE).named("set TCP_KEEPINTVL on", || named(&fd))?;
    probe_keepalive(&fd)?;
    sockopt::set_socket_keepalive(&fd, true).named("set SO_KEEPALIVE on", || named(&fd))
}

/// Asks an end that was silent for a second now, and not once a second (see [`set_keepalive`]).
pub fn probe_keepalive(fd: impl AsFd) -> Result<()> {
    // Setting it, to whatever it was, starts the timer anew with what is left of it.
    sockopt::set_tcp_keepidle(&fd, KEEPALIVE).named("set TCP_KEEPIDLE on", || named(&fd))
}

/// Never fragment, and ignore what the kernel has learned: for probes of an MTU. Only what exceeds the
/// MTU of the first device is refused (EMSGSIZE).
pub fn set_mtu_probe(fd: impl AsFd) -> Result<()> {
    let result = if is_ipv6(&fd) {
        sockopt::set_ipv6_mtu_discover(&fd, Ipv6PathMtuDiscovery::PROBE)
    } else {
        sockopt::set_ip_mtu_discover(&fd, Ipv4PathMtuDiscovery::PROBE)
    };
    result.named("forbid fragments on", || named(&fd))
}

/// How long a receive may wait; `None` is forever. An expired wait is EAGAIN.
pub fn set_receive_timeout(fd: impl AsFd, limit: Option<Duration>) -> Result<()> {
    sockopt::set_socket_timeout(&fd, Timeout::Recv, limit).named("set receive timeout of", || named(&fd))
}

/// How long a send may wait; `None` is forever. An expired wait is EAGAIN.
pub fn set_send_timeout(fd: impl AsFd, limit: Option<Duration>) -> Result<()> {
    sockopt::set_socket_timeout(&fd, Timeout::Send, limit).named("set send timeout of", || named(&fd))
}

/// Closing will reset the connection and drop what is unsent, instead of lingering in TIME-WAIT.
pub fn set_linger_zero(fd: impl AsFd) -> Result<()> {
    sockopt::set_socket_linger(&fd, Some(Duration::ZERO)).named("set SO_LINGER on", || named(&fd))
}

fn is_ipv6(fd: &impl AsFd) -> bool {
    sockopt::socket_domain(fd) == Ok(AddressFamily::INET6)
}

#[cfg(test)]
mod tests;
