//! Receives datagrams with their destination addresses, and sends datagrams from a given source address. See
//! IP_PKTINFO in ip(7), IPV6_RECVPKTINFO in ipv6(7).
#![expect(unsafe_code, reason = "the standard library does not support control messages")]

use std::io;
use std::mem::{size_of, zeroed};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd};

use super::{integer, transfer::again};
use crate::error::Result;

#[repr(C, align(8))]
struct Control([u8; 64]);

const IPV6_RECVPKTINFO: u32 = 49;
const IP_PKTINFO: u32 = 8;

pub fn set_destination_reported(fd: impl AsFd, is_ipv6: bool) -> Result<()> {
    let (level, name) =
        if is_ipv6 { (libc::IPPROTO_IPV6, IPV6_RECVPKTINFO) } else { (libc::IPPROTO_IP, IP_PKTINFO) };
    integer::set(&fd, level, name, 1_i32, "set IP_PKTINFO on")
}

/// Returns the datagram's length, its source, and its local destination address if enabled (see
/// [`set_destination_reported`]). A datagram longer than `buffer` is truncated.
pub fn receive_addressed(
    fd: impl AsFd,
    buffer: &mut [u8],
) -> io::Result<(usize, SocketAddr, Option<IpAddr>)> {
    let mut control = Control([0; 64]);
    // SAFETY: integers and pointers, for which zero is valid.
    let (mut name, mut message): (libc::sockaddr_storage, libc::msghdr) = unsafe { (zeroed(), zeroed()) };
    let mut vector = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    message.msg_name = (&raw mut name).cast();
    message.msg_namelen = length_of::<libc::sockaddr_storage>();
    message.msg_iov = &raw mut vector;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut control).cast();
    message.msg_controllen = length_of::<Control>() as _;
    let socket = fd.as_fd().as_raw_fd();
    let length = again(|| {
        // SAFETY: the header refers to a name, a vector with `buffer` and a control buffer. All have correct
        // lengths and outlive the call.
        let got = unsafe { libc::recvmsg(socket, &raw mut message, 0) };
        usize::try_from(got).map_err(|_| io::Error::last_os_error())
    })?;
    let from = address(&name).ok_or(io::ErrorKind::InvalidData)?;
    Ok((length, from, destination_of(&message)))
}

/// Sends a datagram from the address `from`, which must be a local address of the same family.
pub fn send_addressed(fd: impl AsFd, bytes: &[u8], to: SocketAddr, from: IpAddr) -> io::Result<usize> {
    let mut control = Control([0; 64]);
    // SAFETY: integers and pointers, for which zero is valid.
    let (mut name, mut message): (libc::sockaddr_storage, libc::msghdr) = unsafe { (zeroed(), zeroed()) };
    let mut vector = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    message.msg_name = (&raw mut name).cast();
    message.msg_namelen = fill(&mut name, to);
    message.msg_iov = &raw mut vector;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut control).cast();
    message.msg_controllen = length_of::<Control>() as _;
    match from {
        IpAddr::V4(from) => {
            let source = libc::in_addr { s_addr: u32::from_ne_bytes(from.octets()) };
            let info = libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: source, ipi_addr: source };
            put(&mut message, libc::IPPROTO_IP, libc::IP_PKTINFO, info);
        }
        IpAddr::V6(from) => {
            let ipi6_addr = libc::in6_addr { s6_addr: from.octets() };
            let info = libc::in6_pktinfo { ipi6_addr, ipi6_ifindex: 0 };
            put(&mut message, libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, info);
        }
    }
    let socket = fd.as_fd().as_raw_fd();
    again(|| {
        // SAFETY: the header refers to a name, a control buffer and a vector with `bytes`, which the kernel only
        // reads. All have correct lengths and outlive the call.
        let sent = unsafe { libc::sendmsg(socket, &raw const message, libc::MSG_NOSIGNAL) };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    })
}

const fn length_of<T>() -> libc::socklen_t {
    size_of::<T>() as libc::socklen_t
}

/// Writes `value` as the only control message. The buffer must be large enough.
fn put<T>(message: &mut libc::msghdr, level: i32, kind: i32, value: T) {
    // SAFETY: `msg_control` refers to an aligned `Control`, which has room for a header and `in6_pktinfo`, the
    // larger type; CMSG_FIRSTHDR and CMSG_DATA stay inside it.
    unsafe {
        message.msg_controllen = libc::CMSG_SPACE(length_of::<T>()) as _;
        let header = libc::CMSG_FIRSTHDR(message);
        (*header).cmsg_level = level;
        (*header).cmsg_type = kind;
        (*header).cmsg_len = libc::CMSG_LEN(length_of::<T>()) as _;
        libc::CMSG_DATA(header).cast::<T>().write_unaligned(value);
    }
}

fn destination_of(message: &libc::msghdr) -> Option<IpAddr> {
    // SAFETY: the kernel has filled the control buffer up to `msg_controllen` with messages of the given types; the
    // macros stay inside it.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while !header.is_null() {
            let data = libc::CMSG_DATA(header);
            match ((*header).cmsg_level, (*header).cmsg_type) {
                (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                    let info = data.cast::<libc::in_pktinfo>().read_unaligned();
                    return Some(Ipv4Addr::from(info.ipi_spec_dst.s_addr.to_ne_bytes()).into());
                }
                (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                    let info = data.cast::<libc::in6_pktinfo>().read_unaligned();
                    return Some(Ipv6Addr::from(info.ipi6_addr.s6_addr).into());
                }
                _ => header = libc::CMSG_NXTHDR(message, header),
            }
        }
    }
    None
}

fn address(name: &libc::sockaddr_storage) -> Option<SocketAddr> {
    let name = &raw const *name;
    // SAFETY: `name` has the size and alignment of any address type, and all bytes are valid.
    unsafe {
        match i32::from((*name).ss_family) {
            libc::AF_INET => {
                let name = &*name.cast::<libc::sockaddr_in>();
                let ip = Ipv4Addr::from(name.sin_addr.s_addr.to_ne_bytes());
                Some(SocketAddrV4::new(ip, u16::from_be(name.sin_port)).into())
            }
            libc::AF_INET6 => {
                let name = &*name.cast::<libc::sockaddr_in6>();
                let (ip, port) = (Ipv6Addr::from(name.sin6_addr.s6_addr), u16::from_be(name.sin6_port));
                Some(SocketAddrV6::new(ip, port, name.sin6_flowinfo, name.sin6_scope_id).into())
            }
            _ => None,
        }
    }
}

fn fill(name: &mut libc::sockaddr_storage, address: SocketAddr) -> libc::socklen_t {
    let name = &raw mut *name;
    // SAFETY: `name` has the size and alignment of any address type.
    unsafe {
        match address {
            SocketAddr::V4(address) => {
                let name = &mut *name.cast::<libc::sockaddr_in>();
                name.sin_family = libc::AF_INET as libc::sa_family_t;
                name.sin_port = address.port().to_be();
                name.sin_addr.s_addr = u32::from_ne_bytes(address.ip().octets());
                length_of::<libc::sockaddr_in>()
            }
            SocketAddr::V6(address) => {
                let name = &mut *name.cast::<libc::sockaddr_in6>();
                name.sin6_family = libc::AF_INET6 as libc::sa_family_t;
                name.sin6_port = address.port().to_be();
                name.sin6_flowinfo = address.flowinfo();
                name.sin6_addr.s6_addr = address.ip().octets();
                name.sin6_scope_id = address.scope_id();
                length_of::<libc::sockaddr_in6>()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::time::Duration;

    use super::*;

    fn check(everywhere: &str, to: &str) {
        let to: IpAddr = to.parse().expect("an address");
        let Ok(server) = UdpSocket::bind((everywhere.parse::<IpAddr>().expect("an address"), 0)) else {
            assert!(to.is_ipv6(), "a kernel has IPv4");
            return;
        };
        set_destination_reported(&server, to.is_ipv6()).expect("UDP");
        let client = UdpSocket::bind((everywhere.parse::<IpAddr>().expect("an address"), 0)).expect("bound");
        for socket in [&server, &client] {
            socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
        }
        let port = server.local_addr().expect("bound").port();
        client.send_to(b"to whom", (to, port)).expect("loopback");
        let mut bytes = [0; 16];
        let (length, from, destination) = receive_addressed(&server, &mut bytes).expect("a datagram");
        assert_eq!((&bytes[..length], destination), (&b"to whom"[..], Some(to)));
        assert_eq!(from.port(), client.local_addr().expect("bound").port());
        assert_eq!(send_addressed(&server, b"from me", from, to).expect("loopback"), 7);
        let (length, from) = client.recv_from(&mut bytes).expect("a datagram");
        assert_eq!((&bytes[..length], from), (&b"from me"[..], SocketAddr::new(to, port)));
    }

    #[test]
    fn reply_uses_the_requested_address_as_source() {
        for to in ["127.0.0.1", "127.7.7.7"] {
            check("0.0.0.0", to);
        }
        check("::", "::1");
    }

    #[test]
    fn reports_no_destination_by_default() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        let address = socket.local_addr().expect("bound");
        socket.send_to(b"x", address).expect("loopback");
        let (length, from, destination) = receive_addressed(&socket, &mut [0; 4]).expect("a datagram");
        assert_eq!((length, from, destination), (1, address, None));
    }
}
