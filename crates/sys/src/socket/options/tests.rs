//! Tests that options can be read back from the kernel, and that they take effect on the loopback.

use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream, UdpSocket};

use super::*;
use crate::socket::testing;

#[test]
fn sets_congestion_control_and_rejects_unknown_one() {
    let socket = TcpListener::bind("127.0.0.1:0").expect("loopback");
    set_congestion(&socket, "reno").expect("built in");
    assert_eq!(congestion(&socket).expect("TCP"), "reno");
    let error = set_congestion(&socket, "nonesuch").expect_err("unknown");
    assert!(error.is_unsupported() || error.is_permission(), "{error}");
    assert!(error.to_string().starts_with("cannot set congestion control nonesuch: "), "{error}");
    assert_eq!(congestion(&socket).expect("TCP"), "reno");
}

#[test]
fn kernel_doubles_buffer_sizes() {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    for bytes in [16_384, 65_536] {
        set_send_buffer(&socket, bytes).expect("any socket");
        set_receive_buffer(&socket, bytes).expect("any socket");
        assert_eq!(send_buffer(&socket).expect("any socket"), 2 * bytes);
        assert_eq!(receive_buffer(&socket).expect("any socket"), 2 * bytes);
    }
}

#[test]
fn standard_library_reads_options_back() {
    let (client, _server) = testing::connected();
    for on in [true, false] {
        set_nodelay(&client, on).expect("TCP");
        assert_eq!(client.nodelay().expect("TCP"), on);
        assert_eq!(nodelay(&client).expect("TCP"), on);
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
fn reads_integer_options_back() {
    let (client, _server) = testing::connected();
    match set_busy_poll(&client, 50) {
        Ok(()) => assert_eq!(busy_poll(&client).expect("any socket"), 50),
        Err(error) => assert!(error.is_permission(), "{error}"),
    }
    // For TCP, the kernel controls the lower two bits.
    set_tos(&client, 0b1011_1000).expect("IPv4");
    assert_eq!(tos(&client).expect("IPv4"), 0b1011_1000);
    for on in [true, false] {
        set_reuse_address(&client, on).expect("any socket");
        assert_eq!(sockopt::socket_reuseaddr(&client).expect("any socket"), on);
    }
}

#[test]
fn sets_keepalive_times() {
    let (client, _server) = testing::connected();
    assert!(!sockopt::socket_keepalive(&client).expect("any socket"));
    set_keepalive(&client, Duration::from_millis(2500)).expect("TCP");
    probe_keepalive(&client).expect("TCP");
    assert!(sockopt::socket_keepalive(&client).expect("any socket"));
    assert_eq!(sockopt::tcp_user_timeout(&client).expect("TCP"), 2500);
    assert_eq!(sockopt::tcp_keepidle(&client).expect("TCP"), KEEPALIVE);
    assert_eq!(sockopt::tcp_keepintvl(&client).expect("TCP"), KEEPALIVE);
}

#[test]
fn limits_segment_size() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    set_mss(&listener, 1000).expect("TCP");
    let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
    let (free, _) = testing::connected();
    let (bounded, free) = (mss(&client).expect("TCP"), mss(&free).expect("TCP"));
    assert!(bounded <= 1000, "{bounded}");
    assert!(free > 1000, "{free}");
    assert_eq!(set_mss(&listener, 32_768).expect_err("too large").errno(), libc::EINVAL);
}

#[test]
fn sockets_share_address_only_if_both_allow_it() {
    use rustix::net::{AddressFamily, SocketType, bind, socket};
    let open = |shared| {
        let fd = socket(AddressFamily::INET, SocketType::DGRAM, None).expect("UDP");
        set_reuse_port(&fd, shared).expect("any socket");
        UdpSocket::from(fd)
    };
    let first = open(true);
    bind(&first, &"127.0.0.1:0".parse::<std::net::SocketAddrV4>().expect("an address")).expect("free");
    let address = first.local_addr().expect("bound");
    bind(open(true), &address).expect("shared");
    let error = bind(open(false), &address).expect_err("taken");
    assert_eq!(error.raw_os_error(), libc::EADDRINUSE);
}

#[test]
fn bound_socket_can_share_its_address_later() {
    use rustix::net::{AddressFamily, SocketType, bind, socket};
    let open = || UdpSocket::from(socket(AddressFamily::INET, SocketType::DGRAM, None).expect("UDP"));
    let first = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    let address = first.local_addr().expect("bound");
    let check = |set: fn(UdpSocket) -> UdpSocket, expected: bool| {
        let bound = bind(set(open()), &address);
        assert_eq!(bound.is_ok(), expected, "{bound:?}");
    };
    let by_port = |socket| {
        set_reuse_port(&socket, true).expect("any socket");
        socket
    };
    let by_address = |socket| {
        set_reuse_address(&socket, true).expect("any socket");
        socket
    };
    check(by_port, false);
    set_reuse_port(&first, true).expect("any socket");
    check(by_port, true);
    check(by_address, false);
}

#[test]
fn segment_size_follows_the_mtu() {
    let Some(ns) = crate::netns::testing::namespace() else { return };
    ns.run_in(|| {
        crate::netns::testing::bring_loopback_up();
        testing::set_loopback_mtu(1500);
        let (client, _server) = testing::connected();
        // The headers take 20 bytes for IPv4, 20 for TCP and 12 for timestamps, which may be disabled.
        let found = mss(&client).expect("TCP");
        assert!((1448..=1460).contains(&found), "{found}");
    })
    .expect("enters");
}

fn sends(bytes: usize, prepare: fn(&UdpSocket) -> Result<()>) -> std::result::Result<(), Option<i32>> {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    socket.connect(socket.local_addr().expect("bound")).expect("itself");
    prepare(&socket).expect("IPv4");
    let sent = socket.send(&vec![0; bytes]).map_err(|error| error.raw_os_error())?;
    assert_eq!(sent, bytes);
    Ok(())
}

#[test]
fn rejects_large_datagram_only_without_fragmentation() {
    let Some(ns) = crate::netns::testing::namespace() else { return };
    ns.run_in(|| {
        crate::netns::testing::bring_loopback_up();
        testing::set_loopback_mtu(1500);
        // An IPv4 header takes 20 bytes and a UDP header 8.
        let fits = 1500 - 28;
        assert_eq!(sends(fits + 1, |_| Ok(())), Ok(()));
        assert_eq!(sends(fits, |s| set_mtu_probe(s)), Ok(()));
        assert_eq!(sends(fits + 1, |s| set_mtu_probe(s)), Err(Some(libc::EMSGSIZE)));
    })
    .expect("enters");
}

#[test]
fn supports_ipv6_sockets() {
    let Ok(socket) = UdpSocket::bind("[::1]:0") else { return };
    set_tos(&socket, 4).expect("traffic class");
    assert_eq!(tos(&socket).expect("traffic class"), 4);
    set_mtu_probe(&socket).expect("IPv6");
    assert_eq!(sockopt::ipv6_mtu_discover(&socket).expect("IPv6"), Ipv6PathMtuDiscovery::PROBE);
}

#[test]
fn closing_with_zero_linger_resets_the_peer() {
    let (client, mut server) = testing::connected();
    set_linger_zero(&client).expect("TCP");
    drop(client);
    let error = server.read(&mut [0]).expect_err("reset, not end of stream");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[test]
fn tcp_options_are_unsupported_on_udp() {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    assert!(mss(&socket).expect_err("no TCP").is_unsupported());
    assert!(set_mss(&socket, 1000).expect_err("no TCP").is_unsupported());
}
