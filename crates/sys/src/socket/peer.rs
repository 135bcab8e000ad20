//! The peer process of a local socket.

use std::os::fd::AsFd;

use super::named;
use crate::error::{Context, Result};

/// Returns the PID of the process that listens at the peer address (SO_PEERCRED in unix(7)).
pub fn peer_pid(socket: &impl AsFd) -> Result<u32> {
    let credentials = rustix::net::sockopt::socket_peercred(socket);
    let credentials = credentials.named("read the peer process of", || named(socket))?;
    Ok(credentials.pid.as_raw_nonzero().get().unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peer_of_own_pair_is_this_process() {
        let (one, _other) = std::os::unix::net::UnixStream::pair().expect("a pair");
        assert_eq!(peer_pid(&one).expect("supported by Linux"), std::process::id());
    }
}
