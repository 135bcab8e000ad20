//! Returning messages, until the client ends or is not heard any more.

use std::cell::RefCell;

use codecs::sockperf::Counts;
use sys::clock::monotonic;

use super::{
    GRACE,
    cpu_set::CpuSet,
    greeting::{Greeting, GreetingKind},
    message::{is_closing, knows},
    message_socket::{Arrival, Inbox, MessageSocket},
};
use crate::{
    bounds::{EndReason, Guard},
    error::{Error, Result},
    socket::TICK,
};

/// How long to go on.
#[derive(Debug)]
pub(super) enum Patience<'a> {
    /// Until this time.
    Until(u64),
    /// As long as the client stays within its bounds.
    Bounds(RefCell<Guard<'a>>),
}

/// Returns every message that knows `token`; on a stream every one. A client that has not heard its welcome is
/// welcomed again, and no other word is answered. Says where the thread ran.
pub(super) fn run(
    socket: &MessageSocket,
    mut inbox: Inbox,
    token: u64,
    patience: &Patience<'_>,
    check: impl Fn() -> Result<()>,
) -> Result<CpuSet> {
    let mut seen = CpuSet::default();
    let (mut wake, mut counts) = (monotonic(), Counts::default());
    loop {
        let room = || {
            check()?;
            match patience.judge(counts, monotonic())? {
                None => Ok(()),
                Some(EndReason::Limit(what)) => Err(Error::Limit(what)),
                Some(EndReason::Left | EndReason::Silent) => Err(silent(socket, "room to send")),
            }
        };
        match socket.receive(&mut inbox) {
            Ok(Arrival::Message(bytes)) if socket.is_stream() || knows(bytes, token) => {
                if let Some(said) = Greeting::decode(bytes).filter(|_| !socket.is_stream()) {
                    welcome_again(socket, said)?;
                } else {
                    socket.send(bytes, room)?;
                    counts.received += 1;
                    counts.bytes += bytes.len() as u64;
                    if !socket.is_stream() && is_closing(bytes) {
                        return Ok(seen);
                    }
                }
            }
            Ok(Arrival::Message(_) | Arrival::Nothing) => {}
            Ok(Arrival::End) => return Ok(seen),
            // The kernel's word about an earlier datagram, once the client has closed its socket.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused && !socket.is_stream() => {}
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return Err(Error::Left),
            Err(error) => return Err(socket.failed("receive on")(error)),
        }
        let now = monotonic();
        if now >= wake {
            check()?;
            seen.look();
            wake = now + TICK.as_nanos() as u64;
            match patience.judge(counts, now)? {
                None => {}
                Some(EndReason::Limit(what)) => return Err(Error::Limit(what)),
                Some(EndReason::Left | EndReason::Silent) => return given_up(socket, patience, seen),
            }
        }
    }
}

impl Patience<'_> {
    fn judge(&self, counts: Counts, now: u64) -> Result<Option<EndReason>> {
        match self {
            Self::Until(limit) => Ok((now >= *limit).then_some(EndReason::Silent)),
            Self::Bounds(guard) => guard.borrow_mut().look(counts, now),
        }
    }
}

/// Its address is the one that this socket is connected to, and has been proved.
fn welcome_again(socket: &MessageSocket, said: Greeting) -> Result<()> {
    if said.kind != GreetingKind::Proves {
        return Ok(());
    }
    socket.send(&said.with(GreetingKind::Welcomes).encode(), || Ok(()))
}

/// A datagram's farewell may have got lost; a connection has an end.
fn given_up(socket: &MessageSocket, patience: &Patience<'_>, seen: CpuSet) -> Result<CpuSet> {
    match patience {
        Patience::Until(_) if socket.is_stream() => Err(silent(socket, "the end of the exchange")),
        Patience::Until(_) | Patience::Bounds(_) => Ok(seen),
    }
}

fn silent(socket: &MessageSocket, missing: &str) -> Error {
    Error::Silent { object: socket.name().into(), missing: missing.into(), waited: GRACE }
}
