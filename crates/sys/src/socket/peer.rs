//! Who is at the other end of a socket of this machine.

use std::os::fd::AsFd;

use super::named;
use crate::error::{Context, Result};

/// The process that listens where this socket connected to (SO_PEERCRED of unix(7)).
pub fn peer_pid(socket: &impl AsFd) -> Result<u32> {
    let credentials = rustix::net::sockopt::socket_peercred(socket);
    let credentials = credentials.named("ask for the process at the other end of", || named(socket))?;
    Ok(credentials.pid.as_raw_nonzero().get().unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_end_of_an_own_pair_is_this_process() {
        let (one, _other) = std::os::unix::net::UnixStream::pair().expect("a pair");
        assert_eq!(peer_pid(&one).expect("Linux tells"), std::process::id());
    }
}
