//! Returning messages, until the client ends or is not heard any more.

use sys::clock::monotonic;
use units::Nanos;

use super::{
    GRACE,
    line::{Arrival, Inbox, Line},
    message::{is_closing, knows},
    seen::Seen,
};
use crate::{
    error::{Error, Result},
    socket::TICK,
};

/// How long to go on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Patience {
    /// Until this time.
    Until(u64),
    /// Until nothing has come for so long.
    Idle(Nanos),
}

/// Returns every message that knows `token`; on a stream every one. Says where the thread ran.
pub(super) fn run(
    line: &Line,
    mut inbox: Inbox,
    token: u64,
    patience: Patience,
    check: impl Fn() -> Result<()>,
) -> Result<Seen> {
    let mut seen = Seen::default();
    let (mut wake, mut heard) = (monotonic(), monotonic());
    loop {
        let mut came = false;
        let room = || {
            check()?;
            if patience.is_over(heard, monotonic()) { Err(silent(line, "room to send")) } else { Ok(()) }
        };
        match line.receive(&mut inbox) {
            Ok(Arrival::Message(bytes)) if line.is_stream() || knows(bytes, token) => {
                line.send(bytes, room)?;
                came = true;
                if !line.is_stream() && is_closing(bytes) {
                    return Ok(seen);
                }
            }
            Ok(Arrival::Message(_) | Arrival::Nothing) => {}
            Ok(Arrival::End) => return Ok(seen),
            // The kernel's word about an earlier datagram, once the client has closed its socket.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused && !line.is_stream() => {}
            Err(error) => return Err(line.failed("receive on")(error)),
        }
        let now = monotonic();
        if came {
            heard = now;
        }
        if now >= wake {
            check()?;
            seen.look();
            wake = now + TICK.as_nanos() as u64;
            if patience.is_over(heard, now) {
                return given_up(line, patience, seen);
            }
        }
    }
}

impl Patience {
    const fn is_over(self, heard: u64, now: u64) -> bool {
        match self {
            Self::Until(limit) => now >= limit,
            Self::Idle(time) => now - heard >= time.0,
        }
    }
}

/// A datagram's farewell may have got lost; a connection has an end.
fn given_up(line: &Line, patience: Patience, seen: Seen) -> Result<Seen> {
    match patience {
        Patience::Until(_) if line.is_stream() => Err(silent(line, "the end of the exchange")),
        Patience::Until(_) | Patience::Idle(_) => Ok(seen),
    }
}

fn silent(line: &Line, missing: &str) -> Error {
    Error::Silent { object: line.name().into(), missing: missing.into(), waited: GRACE }
}
