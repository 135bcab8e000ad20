//! Socket options.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::net::AddressFamily;
use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, Timeout};

use super::integer::{self, get_int};
use super::named;
use crate::error::{Context, Result};

const KEEPALIVE: Duration = Duration::from_secs(1);

/// ENOENT means that the kernel does not know the algorithm, EPERM that only root may use it
/// (`net.ipv4.tcp_allowed_congestion_control`).
pub fn set_congestion(fd: impl AsFd, algorithm: &str) -> Result<()> {
    let set = sockopt::set_tcp_congestion(&fd, algorithm).named("set congestion control", || algorithm);
    set.map_err(|error| match error.is_permission() {
        true => error.with_hint(
            "without CAP_NET_ADMIN only those in net.ipv4.tcp_allowed_congestion_control are allowed",
        ),
        false => error,
    })
}

/// Returns an empty list if the kernel does not list its congestion controls.
#[must_use]
pub fn available_congestion() -> Vec<String> {
    congestion_list("/proc/sys/net/ipv4/tcp_available_congestion_control")
}

/// Lists the congestion controls that do not require CAP_NET_ADMIN.
#[must_use]
pub fn allowed_congestion() -> Vec<String> {
    congestion_list("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
}

#[expect(clippy::disallowed_methods, reason = "reads /proc/sys")]
fn congestion_list(path: &str) -> Vec<String> {
    let names = std::fs::read_to_string(path).unwrap_or_default();
    names.split_whitespace().map(str::to_owned).collect()
}

pub fn congestion(fd: impl AsFd) -> Result<String> {
    sockopt::tcp_congestion(&fd).named("read congestion control of", || named(&fd))
}

pub fn set_nodelay(fd: impl AsFd, on: bool) -> Result<()> {
    sockopt::set_tcp_nodelay(&fd, on).named("set TCP_NODELAY on", || named(&fd))
}

pub fn nodelay(fd: impl AsFd) -> Result<bool> {
    sockopt::tcp_nodelay(&fd).named("read TCP_NODELAY of", || named(&fd))
}

/// Sets the size of the send buffer and disables autotuning. The kernel silently limits the size to
/// `net.core.wmem_max` and doubles it.
pub fn set_send_buffer(fd: impl AsFd, bytes: usize) -> Result<()> {
    sockopt::set_socket_send_buffer_size(&fd, bytes).named("set send buffer of", || named(&fd))
}

/// Returns the maximum size of a send buffer in bytes (`net.ipv4.tcp_wmem`), or the kernel's default if that
/// file is unreadable.
#[expect(clippy::disallowed_methods, reason = "reads /proc/sys")]
#[must_use]
pub fn largest_send_buffer() -> usize {
    const DEFAULT: usize = 4 << 20;
    let sizes = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_wmem");
    sizes.ok().and_then(|sizes| sizes.split_whitespace().nth(2)?.parse().ok()).unwrap_or(DEFAULT)
}

/// Sets the size of the receive buffer, which the kernel limits to `net.core.rmem_max`. Call this before
/// connecting a TCP socket.
pub fn set_receive_buffer(fd: impl AsFd, bytes: usize) -> Result<()> {
    sockopt::set_socket_recv_buffer_size(&fd, bytes).named("set receive buffer of", || named(&fd))
}

/// Returns the send buffer size that the kernel reports, in bytes: twice the requested size.
pub fn send_buffer(fd: impl AsFd) -> Result<usize> {
    sockopt::socket_send_buffer_size(&fd).named("read send buffer of", || named(&fd))
}

pub fn receive_buffer(fd: impl AsFd) -> Result<usize> {
    sockopt::socket_recv_buffer_size(&fd).named("read receive buffer of", || named(&fd))
}

pub fn mss(fd: impl AsFd) -> Result<u32> {
    let value = get_int(&fd, libc::IPPROTO_TCP, linux_raw_sys::net::TCP_MAXSEG, "read TCP_MAXSEG of")?;
    Ok(value.unsigned_abs())
}

/// Sets the maximum segment size (TCP_MAXSEG, tcp(7)). Call this before connecting. Fails with EINVAL if
/// `bytes` is not in the range 88 to 32,767.
pub fn set_mss(fd: impl AsFd, bytes: u32) -> Result<()> {
    let value = i32::try_from(bytes).unwrap_or(i32::MAX);
    integer::set(&fd, libc::IPPROTO_TCP, linux_raw_sys::net::TCP_MAXSEG, value, "set TCP_MAXSEG of")
}

/// Makes receive calls poll the device queue before they sleep (SO_BUSY_POLL, socket(7)). EPERM means that
/// increasing the time requires CAP_NET_ADMIN.
pub fn set_busy_poll(fd: impl AsFd, microseconds: u32) -> Result<()> {
    let value = i32::try_from(microseconds).unwrap_or(i32::MAX);
    integer::set(&fd, libc::SOL_SOCKET, linux_raw_sys::net::SO_BUSY_POLL, value, "set SO_BUSY_POLL on")
}

pub fn busy_poll(fd: impl AsFd) -> Result<u32> {
    let name = linux_raw_sys::net::SO_BUSY_POLL;
    Ok(get_int(&fd, libc::SOL_SOCKET, name, "read SO_BUSY_POLL of")?.unsigned_abs())
}

/// The upper six bits are the DSCP (IP_TOS, ip(7), or the IPv6 traffic class). For TCP, the kernel controls the lower
/// two bits (ECN) itself.
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

/// Allows binding an address that still has TCP connections in TIME-WAIT (socket(7)). For UDP, this would let
/// several users share the port.
pub fn set_reuse_address(fd: impl AsFd, on: bool) -> Result<()> {
    sockopt::set_socket_reuseaddr(&fd, on).named("set SO_REUSEADDR on", || named(&fd))
}

/// Lets several sockets of one user share an address, with load balancing (socket(7)). Each must set this
/// before binding.
pub fn set_reuse_port(fd: impl AsFd, on: bool) -> Result<()> {
    sockopt::set_socket_reuseport(&fd, on).named("set SO_REUSEPORT on", || named(&fd))
}

/// Makes a TCP connection fail with ETIMEDOUT if the peer acknowledges nothing for `limit`. After a second of
/// silence, the kernel sends a probe every second (SO_KEEPALIVE, TCP_USER_TIMEOUT, tcp(7)).
pub fn set_keepalive(fd: impl AsFd, limit: Duration) -> Result<()> {
    let milliseconds = u32::try_from(limit.as_millis()).unwrap_or(u32::MAX);
    sockopt::set_tcp_user_timeout(&fd, milliseconds).named("set TCP_USER_TIMEOUT on", || named(&fd))?;
    sockopt::set_tcp_keepintvl(&fd, KEEPALIVE).named("set TCP_KEEPINTVL on", || named(&fd))?;
    probe_keepalive(&fd)?;
    sockopt::set_socket_keepalive(&fd, true).named("set SO_KEEPALIVE on", || named(&fd))
}

/// Sends a probe if the peer has been silent for a second (see [`set_keepalive`]).
pub fn probe_keepalive(fd: impl AsFd) -> Result<()> {
    // Setting this option restarts the timer with the remaining time.
    sockopt::set_tcp_keepidle(&fd, KEEPALIVE).named("set TCP_KEEPIDLE on", || named(&fd))
}

/// Forbids fragmentation and ignores the cached path MTU. The kernel rejects only packets larger than the MTU
/// of the first device (EMSGSIZE).
pub fn set_mtu_probe(fd: impl AsFd) -> Result<()> {
    let result = if is_ipv6(&fd) {
        sockopt::set_ipv6_mtu_discover(&fd, Ipv6PathMtuDiscovery::PROBE)
    } else {
        sockopt::set_ip_mtu_discover(&fd, Ipv4PathMtuDiscovery::PROBE)
    };
    result.named("forbid fragments on", || named(&fd))
}

pub fn path_mtu(fd: impl AsFd) -> Result<u32> {
    let mtu = if is_ipv6(&fd) { sockopt::ipv6_mtu(&fd) } else { sockopt::ip_mtu(&fd) };
    mtu.named("read the path MTU of", || named(&fd))
}

pub fn set_receive_timeout(fd: impl AsFd, limit: Option<Duration>) -> Result<()> {
    sockopt::set_socket_timeout(&fd, Timeout::Recv, limit).named("set receive timeout of", || named(&fd))
}

/// With `None`, a send waits forever. After a timeout, it fails with EAGAIN.
pub fn set_send_timeout(fd: impl AsFd, limit: Option<Duration>) -> Result<()> {
    sockopt::set_socket_timeout(&fd, Timeout::Send, limit).named("set send timeout of", || named(&fd))
}

/// Makes close(2) reset the connection and discard unsent data, instead of entering TIME-WAIT.
pub fn set_linger_zero(fd: impl AsFd) -> Result<()> {
    sockopt::set_socket_linger(&fd, Some(Duration::ZERO)).named("set SO_LINGER on", || named(&fd))
}

fn is_ipv6(fd: &impl AsFd) -> bool {
    sockopt::socket_domain(fd) == Ok(AddressFamily::INET6)
}

#[cfg(test)]
mod tests;
