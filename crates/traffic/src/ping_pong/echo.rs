//! Returns messages until the client ends the test or goes silent.

use std::cell::RefCell;

use codecs::sockperf::Counts;
use sys::clock::monotonic;

use super::{
    GRACE,
    cpu_set::CpuSet,
    greeting::{Greeting, GreetingKind},
    message::{has_token, is_closing},
    message_socket::{Arrival, Inbox, MessageSocket},
};
use crate::{
    bounds::{EndReason, Guard},
    error::{Error, Result},
    socket::TICK,
};

#[derive(Debug)]
pub(super) enum Patience<'a> {
    Until(u64),
    Bounds(RefCell<Guard<'a>>),
}

pub(super) fn run(
    socket: &MessageSocket,
    mut inbox: Inbox,
    token: u64,
    patience: &Patience<'_>,
    check: impl Fn() -> Result<()>,
) -> Result<CpuSet> {
    let mut cpus = CpuSet::default();
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
            Ok(Arrival::Message(bytes)) if socket.is_stream() || has_token(bytes, token) => {
                if let Some(greeting) = Greeting::decode(bytes).filter(|_| !socket.is_stream()) {
                    welcome_again(socket, greeting)?;
                } else {
                    socket.send(bytes, room)?;
                    counts.received += 1;
                    counts.bytes += bytes.len() as u64;
                    if !socket.is_stream() && is_closing(bytes) {
                        return Ok(cpus);
                    }
                }
            }
            Ok(Arrival::Message(_) | Arrival::Nothing) => {}
            Ok(Arrival::End) => return Ok(cpus),
            // This is an ICMP error for an earlier datagram, which arrived after the client had closed its socket.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused && !socket.is_stream() => {}
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return Err(Error::Left),
            Err(error) => return Err(socket.failed("receive on")(error)),
        }
        let now = monotonic();
        if now >= wake {
            check()?;
            cpus.sample();
            wake = now + TICK.as_nanos() as u64;
            match patience.judge(counts, now)? {
                None => {}
                Some(EndReason::Limit(what)) => return Err(Error::Limit(what)),
                Some(EndReason::Left | EndReason::Silent) => return given_up(socket, patience, cpus),
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

fn welcome_again(socket: &MessageSocket, greeting: Greeting) -> Result<()> {
    if greeting.kind != GreetingKind::Proves {
        return Ok(());
    }
    socket.send(&greeting.with(GreetingKind::Welcomes).encode(), || Ok(()))
}

/// Returns whether the client has gone silent. A UDP client's closing datagram may be lost, whereas a TCP connection
/// always ends explicitly.
fn given_up(socket: &MessageSocket, patience: &Patience<'_>, cpus: CpuSet) -> Result<CpuSet> {
    match patience {
        Patience::Until(_) if socket.is_stream() => Err(silent(socket, "the end of the exchange")),
        Patience::Until(_) | Patience::Bounds(_) => Ok(cpus),
    }
}

fn silent(socket: &MessageSocket, missing: &str) -> Error {
    Error::Silent { object: socket.name().into(), missing: missing.into(), waited: GRACE }
}
