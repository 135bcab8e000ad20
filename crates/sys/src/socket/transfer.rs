//! Sending and receiving in ways that the standard library lacks. Calls that move many datagrams at once
//! belong here too.
#![expect(unsafe_code, reason = "a receive without a buffer")]

use std::os::fd::{AsFd, AsRawFd};

use super::named;
use crate::error::{Error, Result};

/// Takes up to `length` bytes off a TCP socket and drops them inside the kernel, without a copy
/// (MSG_TRUNC, tcp(7)). Returns how many; 0 means that the peer has finished. An expired receive timeout
/// is an error for which [`Error::is_timeout`] holds.
pub fn recv_truncated(fd: impl AsFd, length: usize) -> Result<usize> {
    let socket = fd.as_fd().as_raw_fd();
    loop {
        // SAFETY: with MSG_TRUNC a TCP socket writes nothing to the buffer, so none is needed.
        let got = unsafe { libc::recv(socket, std::ptr::null_mut(), length, libc::MSG_TRUNC) };
        if let Ok(got) = usize::try_from(got) {
            return Ok(got);
        }
        let error = Error::last("receive from", named(&fd));
        if error.errno() != libc::EINTR {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::time::Duration;

    use super::*;
    use crate::socket::{set_receive_timeout, testing};

    #[test]
    fn dropped_bytes_are_counted_and_the_rest_stays_readable() {
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
    fn an_expired_wait_is_a_timeout() {
        let (_client, server) = testing::connected();
        set_receive_timeout(&server, Some(Duration::from_millis(10))).expect("any socket");
        assert!(recv_truncated(&server, 1).expect_err("nothing sent").is_timeout());
    }
}
