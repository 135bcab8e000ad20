//! Options of sockets, set and read back.
#![expect(unsafe_code, reason = "options that rustix has no call for")]

use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use rustix::net::AddressFamily;
use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, Timeout};

use super::named;
use crate::error::{Context, Error, Result};

/// Chooses the congestion control of one TCP socket. ENOENT: the kernel has no such algorithm;
/// EPERM: it may be used by root only (`net.ipv4.tcp_allowed_congestion_control`).
pub fn set_congestion(fd: impl AsFd, algorithm: &str) -> Result<()> {
    sockopt::set_tcp_congestion(&fd, algorithm)
        .named("set congestion control", || format!("{algorithm} on {}", named(&fd)))
}

/// The congestion control that a TCP socket uses.
pub fn congestion(fd: impl AsFd) -> Result<String> {
    sockopt::tcp_congestion(&fd).named("read congestion control of", || named(&fd))
}

/// Whether small messages are sent at once (true) or gathered (Nagle's algorithm).
pub fn set_nodelay(fd: impl AsFd, on: bool) -> Result<()> {
    sockopt::set_tcp_nodelay(&fd, on).named("set TCP_NODELAY on", || named(&fd))
}

/// Asks for a send buffer of `bytes` and ends its automatic growth. With CAP_NET_ADMIN the limit
/// `net.core.wmem_max` does not hold; without, the kernel cuts silently: read [`send_buffer`] back.
pub fn set_send_buffer(fd: impl AsFd, bytes: usize) -> Result<()> {
    sockopt::set_socket_send_buffer_size_force(&fd, bytes)
        .or_else(|_| sockopt::set_socket_send_buffer_size(&fd, bytes))
        .named("set send buffer of", || named(&fd))
}

/// The size of the send buffer in bytes, as the kernel accounts it: twice what was asked for.
pub fn send_buffer(fd: impl AsFd) -> Result<usize> {
    sockopt::socket_send_buffer_size(&fd).named("read send buffer of", || named(&fd))
}

/// Like [`set_send_buffer`], for receiving (`net.core.rmem_max`).
pub fn set_receive_buffer(fd: impl AsFd, bytes: usize) -> Result<()> {
    sockopt::set_socket_recv_buffer_size_force(&fd, bytes)
        .or_else(|_| sockopt::set_socket_recv_buffer_size(&fd, bytes))
        .named("set receive buffer of", || named(&fd))
}

/// Like [`send_buffer`], for receiving.
pub fn receive_buffer(fd: impl AsFd) -> Result<usize> {
    sockopt::socket_recv_buffer_size(&fd).named("read receive buffer of", || named(&fd))
}

/// Lets a blocking receive spin on the device for so many microseconds before it sleeps (SO_BUSY_POLL).
pub fn set_busy_poll(fd: impl AsFd, microseconds: u32) -> Result<()> {
    let value = i32::try_from(microseconds).unwrap_or(i32::MAX);
    set_int(&fd, libc::SOL_SOCKET, linux_raw_sys::net::SO_BUSY_POLL, value, "set SO_BUSY_POLL on")
}

/// The type of service byte of what is sent: DSCP in the upper six bits (the traffic class of IPv6).
pub fn set_tos(fd: impl AsFd, tos: u8) -> Result<()> {
    let result =
        if is_ipv6(&fd) { sockopt::set_ipv6_tclass(&fd, tos.into()) } else { sockopt::set_ip_tos(&fd, tos) };
    result.named("set type of service of", || named(&fd))
}

/// Bounds the segment size of a TCP socket, in bytes; before it is connected.
pub fn set_mss(fd: impl AsFd, bytes: u32) -> Result<()> {
    let value = i32::try_from(bytes).unwrap_or(i32::MAX);
    set_int(&fd, libc::IPPROTO_TCP, linux_raw_sys::net::TCP_MAXSEG, value, "set TCP_MAXSEG of")
}

/// The segment size that a TCP socket sends with, in bytes.
pub fn mss(fd: impl AsFd) -> Result<u32> {
    let value = get_int(&fd, libc::IPPROTO_TCP, linux_raw_sys::net::TCP_MAXSEG, "read TCP_MAXSEG of")?;
    Ok(value.unsigned_abs())
}

/// Allows to bind an address of which old connections still linger.
pub fn set_reuse_address(fd: impl AsFd, on: bool) -> Result<()> {
    sockopt::set_socket_reuseaddr(&fd, on).named("set SO_REUSEADDR on", || named(&fd))
}

/// Never fragment, and refuse (EMSGSIZE) what exceeds the path MTU that the kernel has learned.
pub fn set_dont_fragment(fd: impl AsFd) -> Result<()> {
    set_mtu_discovery(&fd, Ipv4PathMtuDiscovery::DO, Ipv6PathMtuDiscovery::DO)
}

/// Never fragment, and ignore what the kernel has learned: for probes of an MTU. Only what exceeds the
/// MTU of the first device is refused (EMSGSIZE).
pub fn set_mtu_probe(fd: impl AsFd) -> Result<()> {
    set_mtu_discovery(&fd, Ipv4PathMtuDiscovery::PROBE, Ipv6PathMtuDiscovery::PROBE)
}

/// The path MTU that the kernel knows for the peer of a connected socket, in bytes (IP_MTU).
pub fn path_mtu(fd: impl AsFd) -> Result<u32> {
    let result = if is_ipv6(&fd) { sockopt::ipv6_mtu(&fd) } else { sockopt::ip_mtu(&fd) };
    result.named("read path MTU of", || named(&fd))
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

fn set_mtu_discovery(fd: &impl AsFd, v4: Ipv4PathMtuDiscovery, v6: Ipv6PathMtuDiscovery) -> Result<()> {
    let result = if is_ipv6(fd) {
        sockopt::set_ipv6_mtu_discover(fd, v6)
    } else {
        sockopt::set_ip_mtu_discover(fd, v4)
    };
    result.named("forbid fragments on", || named(fd))
}

fn is_ipv6(fd: &impl AsFd) -> bool {
    sockopt::socket_domain(fd) == Ok(AddressFamily::INET6)
}

fn set_int(fd: &impl AsFd, level: i32, name: u32, value: i32, operation: &'static str) -> Result<()> {
    let size = libc::socklen_t::try_from(size_of::<i32>()).expect("4 fits");
    let raw = fd.as_fd().as_raw_fd();
    // SAFETY: the kernel reads `size` bytes of `value`, which lives until the call returns.
    let status = unsafe { libc::setsockopt(raw, level, name.cast_signed(), (&raw const value).cast(), size) };
    if status < 0 { Err(Error::last(operation, named(fd))) } else { Ok(()) }
}

fn get_int(fd: &impl AsFd, level: i32, name: u32, operation: &'static str) -> Result<i32> {
    let mut value = 0_i32;
    let mut size = libc::socklen_t::try_from(size_of::<i32>()).expect("4 fits");
    let raw = fd.as_fd().as_raw_fd();
    let to = (&raw mut value).cast();
    // SAFETY: the kernel writes at most `size` bytes to `value`, which is that long.
    let status = unsafe { libc::getsockopt(raw, level, name.cast_signed(), to, &raw mut size) };
    if status < 0 { Err(Error::last(operation, named(fd))) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read};
    use std::net::{TcpListener, TcpStream, UdpSocket};

    use super::*;
    use crate::socket::testing;

    #[test]
    fn congestion_control_reads_back_and_an_unknown_one_is_unsupported() {
        let socket = TcpListener::bind("127.0.0.1:0").expect("loopback");
        // Reno is part of every kernel and free to all.
        set_congestion(&socket, "reno").expect("built in");
        assert_eq!(congestion(&socket).expect("TCP"), "reno");
        let error = set_congestion(&socket, "nonesuch").expect_err("unknown");
        assert!(error.is_unsupported() || error.is_permission(), "{error}");
        assert!(
            error.to_string().starts_with("cannot set congestion control nonesuch on socket "),
            "{error}"
        );
        assert_eq!(congestion(&socket).expect("TCP"), "reno");
    }

    #[test]
    fn buffers_are_accounted_double() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        for bytes in [16_384, 65_536] {
            set_send_buffer(&socket, bytes).expect("any socket");
            set_receive_buffer(&socket, bytes).expect("any socket");
            assert_eq!(send_buffer(&socket).expect("any socket"), 2 * bytes);
            assert_eq!(receive_buffer(&socket).expect("any socket"), 2 * bytes);
        }
    }

    #[test]
    fn switches_are_read_back_by_the_standard_library() {
        let (client, _server) = testing::connected();
        for on in [true, false] {
            set_nodelay(&client, on).expect("TCP");
            assert_eq!(client.nodelay().expect("TCP"), on);
        }
        let limit = Some(Duration::from_millis(500));
        set_receive_timeout(&client, limit).expect("any socket");
        set_send_timeout(&client, limit).expect("any socket");
        assert_eq!(client.read_timeout().expect("any socket"), limit);
        assert_eq!(client.write_timeout().expect("any socket"), limit);
        set_receive_timeout(&client, None).expect("any socket");
        assert_eq!(client.read_timeout().expect("any socket"), None);
    }

    #[test]
    fn integer_options_read_back_from_the_kernel() {
        let (client, _server) = testing::connected();
        set_busy_poll(&client, 50)
            .or_else(|error| if error.is_permission() { Ok(()) } else { Err(error) })
            .expect("SO_BUSY_POLL");
        set_reuse_address(&client, true).expect("any socket");
        set_tos(&client, 0b1011_1000).expect("IPv4");
        assert!(sockopt::socket_reuseaddr(&client).expect("any socket"));
        assert_eq!(sockopt::ip_tos(&client).expect("IPv4"), 0b1011_1000);
    }

    #[test]
    fn a_bounded_segment_size_holds_for_the_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        set_mss(&listener, 1000).expect("TCP");
        let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
        let (free, _) = testing::connected();
        let (bounded, free) = (mss(&client).expect("TCP"), mss(&free).expect("TCP"));
        assert!(bounded <= 1000, "{bounded}");
        assert!(free > 1000, "{free}");
    }

    /// Whether a datagram of `bytes` of payload leaves a new socket that `prepare` has changed.
    fn sends(bytes: usize, prepare: fn(&UdpSocket) -> Result<()>) -> std::result::Result<u32, Option<i32>> {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        socket.connect(socket.local_addr().expect("bound")).expect("itself");
        prepare(&socket).expect("IPv4");
        let sent = socket.send(&vec![0; bytes]).map_err(|error| error.raw_os_error())?;
        assert_eq!(sent, bytes);
        Ok(path_mtu(&socket).expect("connected"))
    }

    #[test]
    fn only_where_fragments_are_forbidden_a_datagram_larger_than_the_path_is_refused() {
        let Some(ns) = crate::netns::testing::namespace() else { return };
        ns.run_in(|| {
            crate::netns::bring_loopback_up().expect("root of its namespace");
            testing::set_loopback_mtu(1500);
            // 20 bytes of IPv4 and 8 of UDP.
            let fits = 1500 - 28;
            assert_eq!(sends(fits + 1, |_| Ok(())), Ok(1500));
            let ways: [fn(&UdpSocket) -> Result<()>; 2] = [|s| set_dont_fragment(s), |s| set_mtu_probe(s)];
            for forbid in ways {
                assert_eq!(sends(fits, forbid), Ok(1500));
                assert_eq!(sends(fits + 1, forbid), Err(Some(libc::EMSGSIZE)));
            }
        })
        .expect("enters");
    }

    #[test]
    fn an_ipv6_socket_takes_the_same_calls() {
        let Ok(socket) = UdpSocket::bind("[::1]:0") else { return };
        set_tos(&socket, 4).expect("traffic class");
        set_dont_fragment(&socket).expect("IPv6");
        assert_eq!(sockopt::ipv6_tclass(&socket).expect("IPv6"), 4);
        assert_eq!(sockopt::ipv6_mtu_discover(&socket).expect("IPv6"), Ipv6PathMtuDiscovery::DO);
    }

    #[test]
    fn closing_without_linger_resets_the_peer() {
        let (client, mut server) = testing::connected();
        set_linger_zero(&client).expect("TCP");
        drop(client);
        let error = server.read(&mut [0]).expect_err("reset, not end of stream");
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }

    #[test]
    fn an_option_of_tcp_on_udp_is_unsupported() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        assert!(set_mss(&socket, 1000).expect_err("no TCP").is_unsupported());
    }
}
