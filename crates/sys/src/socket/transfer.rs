//! Send and receive calls that the standard library lacks. They never allocate and return plain errnos, because
//! measuring loops use them.
#![expect(unsafe_code, reason = "a receive without a buffer")]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::{
    io::Errno,
    net::{RecvFlags, SendFlags},
};

/// Discards data from a TCP socket inside the kernel (MSG_TRUNC, tcp(7)). Returns 0 at the end of the stream,
/// and `WouldBlock` after the receive timeout. Fails with EFAULT for other sockets.
#[inline]
pub fn recv_truncated(fd: impl AsFd, length: usize) -> io::Result<usize> {
    let socket = fd.as_fd().as_raw_fd();
    again(|| {
        // SAFETY: with MSG_TRUNC a TCP socket writes nothing to the buffer; for other sockets the kernel rejects the
        // address.
        let got = unsafe { libc::recv(socket, std::ptr::null_mut(), length, libc::MSG_TRUNC) };
        usize::try_from(got).map_err(|_| io::Error::last_os_error())
    })
}

/// Returns `WouldBlock` if no data is available, and 0 at the end of the stream.
#[inline]
pub fn recv_nonblocking(fd: impl AsFd, buffer: &mut [u8]) -> io::Result<usize> {
    let mut receive = || Ok(rustix::net::recv(&fd, &mut *buffer, RecvFlags::DONTWAIT)?.0);
    again(&mut receive)
}

#[inline]
pub fn recv_spinning(fd: impl AsFd, buffer: &mut [u8], looks: u32) -> io::Result<usize> {
    for _ in 0..looks {
        match rustix::net::recv(&fd, &mut *buffer, RecvFlags::DONTWAIT) {
            Ok((length, _)) => return Ok(length),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::ErrorKind::WouldBlock.into())
}

/// Sends as much as fits into a connected socket's buffer. Returns `WouldBlock` if the buffer is full.
#[inline]
pub fn send_nonblocking(fd: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    again(|| Ok(rustix::net::send(&fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?))
}

#[inline]
pub(super) fn again<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::net::UdpSocket;
    use std::time::Duration;

    use super::*;
    use crate::socket::{set_receive_timeout, testing};

    #[test]
    fn counts_discarded_bytes_and_leaves_the_rest() {
        let (mut client, mut server) = testing::connected();
        client.write_all(b"drop this, keep that").expect("loopback");
        drop(client);
        let mut dropped = 0;
        while dropped < 11 {
            dropped += recv_truncated(&server, 11 - dropped).expect("data");
        }
        let mut rest = String::new();
        server.read_to_string(&mut rest).expect("text");
        assert_eq!(rest, "keep that");
        assert_eq!(recv_truncated(&server, 1).expect("end of stream"), 0);
    }

    #[test]
    fn timeout_would_block() {
        let (_client, server) = testing::connected();
        set_receive_timeout(&server, Some(Duration::from_millis(10))).expect("any socket");
        assert_eq!(recv_truncated(&server, 1).expect_err("nothing sent").kind(), ErrorKind::WouldBlock);
    }

    #[test]
    fn rejects_datagram_socket() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        socket.connect(socket.local_addr().expect("bound")).expect("itself");
        socket.send(&[7; 100]).expect("loopback");
        let error = recv_truncated(&socket, 100).expect_err("no buffer");
        assert_eq!(error.raw_os_error(), Some(libc::EFAULT));
    }

    #[test]
    fn empty_and_full_sockets_would_block() {
        let (client, server) = testing::connected();
        let mut buffer = [0; 8];
        let empty = recv_spinning(&server, &mut buffer, 3).expect_err("nothing sent");
        assert_eq!(empty.kind(), ErrorKind::WouldBlock);
        let empty = recv_nonblocking(&server, &mut buffer).expect_err("nothing sent");
        assert_eq!(empty.kind(), ErrorKind::WouldBlock);
        let mut sent = 0;
        let full = loop {
            match send_nonblocking(&client, &[7; 65_536]) {
                Ok(more) => sent += more,
                Err(error) => break error,
            }
            assert!(sent < 1 << 30, "the buffer is finite");
        };
        assert_eq!(full.kind(), ErrorKind::WouldBlock);
        assert_eq!(recv_nonblocking(&server, &mut buffer).expect("data"), 8);
        assert_eq!(buffer, [7; 8]);
        drop(client);
        let rest = std::io::copy(&mut &server, &mut std::io::sink()).expect("loopback");
        assert_eq!(rest + 8, sent as u64);
        assert_eq!(recv_nonblocking(&server, &mut buffer).expect("the end"), 0);
        assert_eq!(recv_spinning(&server, &mut buffer, 3).expect("the end"), 0);
    }
}
