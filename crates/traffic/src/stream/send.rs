//! The sending end of one connection: writes of the message's size until the time is over or all is sent.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
};

use load::Until;
use samples::{EndSeries, ThreadCpu, ThreadRole};
use sys::clock::monotonic;
use units::Nanos;

use super::{GRACE, flow::Flow, pulse::Pulse};
use crate::{
    crew::{Shared, Spent},
    error::{Error, Result},
    socket::{is_wait, tcp_facts},
};

/// Sends until the end, then waits until the peer has read everything.
pub(super) fn run(flow: &Flow<'_>, shared: &Shared<'_>, message: &[u8]) -> Result<(EndSeries, ThreadCpu)> {
    let spent = Spent::from_now();
    let pulse = Pulse::begin(shared, &flow.socket, &flow.name, flow.settings, false);
    let pulse = match flow.settings.until {
        Until::Elapsed(time) => write_for(flow, pulse, message, time)?,
        Until::Sent(_) => write_all(flow, pulse, message, flow.share.unwrap_or(0))?,
    };
    let thread = spent.until_now(flow.end, ThreadRole::Send);
    let series = pulse.finish(monotonic(), tcp_facts(&flow.socket, flow.cpus));
    await_drained(flow, shared)?;
    Ok((series, thread))
}

fn write_for<'a>(flow: &Flow<'_>, mut pulse: Pulse<'a>, message: &[u8], time: Nanos) -> Result<Pulse<'a>> {
    let end = pulse.begun() + (flow.settings.warmup + time).0;
    loop {
        let written = write(&flow.socket, message, &flow.name)?;
        let now = monotonic();
        pulse.count(written, now)?;
        if now >= end && pulse.has_measured(time, now) {
            return Ok(pulse);
        }
    }
}

fn write_all<'a>(flow: &Flow<'_>, mut pulse: Pulse<'a>, message: &[u8], share: u64) -> Result<Pulse<'a>> {
    while pulse.total() < share {
        let left = share - pulse.total();
        let next = message.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let written = write(&flow.socket, &message[..next], &flow.name)?;
        let now = monotonic();
        pulse.count(written, now)?;
        if written == 0 {
            pulse.check_moving(now)?;
        }
    }
    Ok(pulse)
}

/// One write; 0 when the socket took nothing for as long as a wait may last.
#[inline]
fn write(mut socket: &TcpStream, bytes: &[u8], name: &str) -> Result<usize> {
    match socket.write(bytes) {
        Ok(written) => Ok(written),
        Err(error) if is_wait(&error) => Ok(0),
        Err(error) => Err(Error::socket("send on", || name)(error)),
    }
}

/// Half-closes, and waits for the peer to close: it does so once it has read the last byte.
fn await_drained(flow: &Flow<'_>, shared: &Shared<'_>) -> Result<()> {
    let mut socket = &flow.socket;
    socket.shutdown(Shutdown::Write).map_err(Error::socket("half-close", || flow.name.clone()))?;
    let begun = monotonic();
    loop {
        match socket.read(&mut [0]) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if is_wait(&error) => {}
            Err(error) => return Err(Error::socket("end", || flow.name.clone())(error)),
        }
        shared.check()?;
        if Nanos(monotonic() - begun) > GRACE {
            let missing = "the other end to read everything".into();
            return Err(Error::Silent { object: flow.name.clone(), missing, waited: GRACE });
        }
    }
}
