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
    use std::net::{TcpListener, UdpSocket};

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
            sockopt::set_socket_send_buffer_size(&socket, bytes).expect("any socket");
            sockopt::set_socket_recv_buffer_size(&socket, bytes).expect("any socket");
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
    fn the_segment_size_follows_the_mtu_of_the_device() {
        let Some(ns) = crate::netns::testing::namespace() else { return };
        ns.run_in(|| {
            crate::netns::bring_loopback_up().expect("root of its namespace");
            testing::set_loopback_mtu(1500);
            let (client, _server) = testing::connected();
            // 20 bytes of IPv4, 20 of TCP and 12 of its timestamps, which a kernel may be told to leave out.
            let found = mss(&client).expect("TCP");
            assert!((1448..=1460).contains(&found), "{found}");
        })
        .expect("enters");
    }

    /// Whether a datagram of `bytes` of payload leaves a new socket that `prepare` has changed.
    fn sends(bytes: usize, prepare: fn(&UdpSocket) -> Result<()>) -> std::result::Result<(), Option<i32>> {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        socket.connect(socket.local_addr().expect("bound")).expect("itself");
        prepare(&socket).expect("IPv4");
        let sent = socket.send(&vec![0; bytes]).map_err(|error| error.raw_os_error())?;
        assert_eq!(sent, bytes);
        Ok(())
    }

    #[test]
    fn only_where_fragments_are_forbidden_a_datagram_larger_than_the_path_is_refused() {
        let Some(ns) = crate::netns::testing::namespace() else { return };
        ns.run_in(|| {
            crate::netns::bring_loopback_up().expect("root of its namespace");
            testing::set_loopback_mtu(1500);
            // 20 bytes of IPv4 and 8 of UDP.
            let fits = 1500 - 28;
            assert_eq!(sends(fits + 1, |_| Ok(())), Ok(()));
            assert_eq!(sends(fits, |s| set_mtu_probe(s)), Ok(()));
            assert_eq!(sends(fits + 1, |s| set_mtu_probe(s)), Err(Some(libc::EMSGSIZE)));
        })
        .expect("enters");
    }

    #[test]
    fn an_ipv6_socket_takes_the_same_call() {
        let Ok(socket) = UdpSocket::bind("[::1]:0") else { return };
        set_mtu_probe(&socket).expect("IPv6");
        assert_eq!(sockopt::ipv6_mtu_discover(&socket).expect("IPv6"), Ipv6PathMtuDiscovery::PROBE);
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
        assert!(mss(&socket).expect_err("no TCP").is_unsupported());
    }
}
