//! Socket options.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::net::AddressFamily;
use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, Timeout};

use super::integer::{self, get_int};
use super::named;
use crate::error::{Context, Result};

/// Keepalive interval.
const KEEPALIVE: Duration = Duration::from_secs(1);

/// ENOENT: unknown to the kernel; EPERM: restricted to root (`net.ipv4.tcp_allowed_congestion_control`).
pub fn set_congestion(fd: impl AsFd, algorithm: &str) -> Result<()> {
    let set = sockopt::set_tcp_congestion(&fd, algorithm).named("set congestion control", || algorithm);
    set.map_err(|error| match error.is_permission() {
        true => error.with_hint(
            "without CAP_NET_ADMIN only those in net.ipv4.tcp_allowed_congestion_control are allowed",
        ),
        false => error,
    })
}

#[expect(clippy::disallowed_methods, reason = "reads /proc/sys")]
#[must_use]
pub fn has_congestion(algorithm: &str) -> bool {
    let available = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    available.is_ok_and(|names| names.split_whitespace().any(|name| name == algorithm))
}

pub fn congestion(fd: impl AsFd) -> Result<String> {
    sockopt::tcp_congestion(&fd).named("read congestion control of", || named(&fd))
}

/// True disables Nagle's algorithm.
pub fn set_nodelay(fd: impl AsFd, on: bool) -> Result<()> {
    sockopt::set_tcp_nodelay(&fd, on).named("set TCP_NODELAY on", || named(&fd))
}

pub fn nodelay(fd: impl AsFd) -> Result<bool> {
    sockopt::tcp_nodelay(&fd).named("read TCP_NODELAY of", || named(&fd))
}

/// Disables autotuning. The kernel silently limits the size to `net.core.wmem_max` and doubles it; use [`send_buffer`] to read
/// the result.
pub fn set_send_buffer(fd: impl AsFd, bytes: usize) -> Result<()> {
    sockopt::set_socket_send_buffer_size(&fd, bytes).named("set send buffer of", || named(&fd))
}

/// Bytes (`net.ipv4.tcp_wmem`); the kernel's default if unreadable.
#[expect(clippy::disallowed_methods, reason = "reads /proc/sys")]
#[must_use]
pub fn largest_send_buffer() -> usize {
    const DEFAULT: usize = 4 << 20;
    let sizes = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_wmem");
    sizes.ok().and_then(|sizes| sizes.split_whitespace().nth(2)?.parse().ok()).unwrap_or(DEFAULT)
}

/// Limited by `net.core.rmem_max`. A TCP socket needs it before connecting, so that the window can use it.
pub fn set_receive_buffer(fd: impl AsFd, bytes: usize) -> Result<()> {
    sockopt::set_socket_recv_buffer_size(&fd, bytes).named("set receive buffer of", || named(&fd))
}

/// Bytes as accounted by the kernel: twice the requested size.
pub fn send_buffer(fd: impl AsFd) -> Result<usize> {
    sockopt::socket_send_buffer_size(&fd).named("read send buffer of", || named(&fd))
}

/// Bytes as in [`send_buffer`].
pub fn receive_buffer(fd: impl AsFd) -> Result<usize> {
    sockopt::socket_recv_buffer_size(&fd).named("read receive buffer of", || named(&fd))
}

/// Bytes.
pub fn mss(fd: impl AsFd) -> Result<u32> {
    let value = get_int(&fd, libc::IPPROTO_TCP, linux_raw_sys::net::TCP_MAXSEG, "read TCP_MAXSEG of")?;
    Ok(value.unsigned_abs())
}

/// Must precede connecting (TCP_MAXSEG, tcp(7)). EINVAL outside 88 to 32,767.
pub fn set_mss(fd: impl AsFd, bytes: u32) -> Result<()> {
    let value = i32::try_from(bytes).unwrap_or(i32::MAX);
    integer::set(&fd, libc::IPPROTO_TCP, linux_raw_sys::net::TCP_MAXSEG, value, "set TCP_MAXSEG of")
}

/// Busy-polls the device queue before a receive sleeps (SO_BUSY_POLL, socket(7)). EPERM: an increase requires CAP_NET_ADMIN.
pub fn set_busy_poll(fd: impl AsFd, microseconds: u32) -> Result<()> {
    let value = i32::try_from(microseconds).unwrap_or(i32::MAX);
    integer::set(&fd, libc::SOL_SOCKET, linux_raw_sys::net::SO_BUSY_POLL, value, "set SO_BUSY_POLL on")
}

/// Microseconds.
pub fn busy_poll(fd: impl AsFd) -> Result<u32> {
    let name = linux_raw_sys::net::SO_BUSY_POLL;
    Ok(get_int(&fd, libc::SOL_SOCKET, name, "read SO_BUSY_POLL of")?.unsigned_abs())
}

/// DSCP is in the upper six bits (IP_TOS, ip(7), or the IPv6 traffic class). TCP controls the lower two bits (ECN) itself.
pub fn set_tos(fd: impl AsFd, tos: u8) -> Result<()> {
    let result =
        if is_ipv6(&fd) { sockopt::set_ipv6_tclass(&fd, tos.into()) } else { sockopt::set_ip_tos(&fd, tos) };
    result.named("set type of service of", || named(&fd))
}

pub fn tos(fd: impl AsFd) -> Result<u8> {
    if is_ipv6(&fd) {
        let class = sockopt::ipv6_tclass(&fd).named("read type of service of", || named(&fd))?;
        return Ok(u8::try_from(class).unwrap_or(u8::MAX));
    }
    sockopt::ip_tos(&fd).named("read type of service of", || named(&fd))
}

/// Allows binding an address with lingering TCP connections (socket(7)). Several users of a UDP port would share it.
pub fn set_reuse_address(fd: impl AsFd, on: bool) -> Result<()> {
    sockopt::set_socket_reuseaddr(&fd, on).named("set SO_REUSEADDR on", || named(&fd))
}

/// Sockets of one user can bind the same address, with load balancing (socket(7)). All need it before binding, except the
/// first, which may set it later.
pub fn set_reuse_port(fd: impl AsFd, on: bool) -> Result<()> {
    sockopt::set_socket_reuseport(&fd, on).named("set SO_REUSEPORT on", || named(&fd))
}

/// Fails a TCP connection with ETIMEDOUT when the peer acknowledges nothing for `limit`. Probes are sent after a second of
/// silence, and every second from then on (SO_KEEPALIVE, TCP_USER_TIMEOUT, tcp(7)).
pub fn set_keepalive(fd: impl AsFd, limit: Duration) -> Result<()> {
    let milliseconds = u32::try_from(limit.as_millis()).unwrap_or(u32::MAX);
    sockopt::set_tcp_user_timeout(&fd, milliseconds).named("set TCP_USER_TIMEOUT on", || named(&fd))?;
    sockopt::set_tcp_keepintvl(&fd, KEEPALIVE).named("set TCP_KEEPINTVL on", || named(&fd))?;
    probe_keepalive(&fd)?;
    sockopt::set_socket_keepalive(&fd, true).named("set SO_KEEPALIVE on", || named(&fd))
}

/// Probes a peer that has been silent for a second (see [`set_keepalive`]).
pub fn probe_keepalive(fd: impl AsFd) -> Result<()> {
    // Setting the option restarts the timer with the remaining time.
    sockopt::set_tcp_keepidle(&fd, KEEPALIVE).named("set TCP_KEEPIDLE on", || named(&fd))
}

/// Forbids fragmentation and ignores the cached path MTU. Only packets larger than the MTU of the first device are rejected
/// (EMSGSIZE).
pub fn set_mtu_probe(fd: impl AsFd) -> Result<()> {
    let result = if is_ipv6(&fd) {
        sockopt::set_ipv6_mtu_discover(&fd, Ipv6PathMtuDiscovery::PROBE)
    } else {
        sockopt::set_ip_mtu_discover(&fd, Ipv4PathMtuDiscovery::PROBE)
    };
    result.named("forbid fragments on", || named(&fd))
}

/// `None` waits forever. EAGAIN on expiry.
pub fn set_receive_timeout(fd: impl AsFd, limit: Option<Duration>) -> Result<()> {
    sockopt::set_socket_timeout(&fd, Timeout::Recv, limit).named("set receive timeout of", || named(&fd))
}

/// `None` waits forever. EAGAIN on expiry.
pub fn set_send_timeout(fd: impl AsFd, limit: Option<Duration>) -> Result<()> {
    sockopt::set_socket_timeout(&fd, Timeout::Send, limit).named("set send timeout of", || named(&fd))
}

/// Close then resets the connection and discards unsent data, instead of entering TIME-WAIT.
pub fn set_linger_zero(fd: impl AsFd) -> Result<()> {
    sockopt::set_socket_linger(&fd, Some(Duration::ZERO)).named("set SO_LINGER on", || named(&fd))
}

fn is_ipv6(fd: &impl AsFd) -> bool {
    sockopt::socket_domain(fd) == Ok(AddressFamily::INET6)
}

#[cfg(test)]
mod tests;
