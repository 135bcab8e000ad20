//! The receiving end of one connection: copying reads of the message's size until the sender has finished.

use std::{io::Read, net::TcpStream};

use load::Until;
use samples::{EndSeries, ThreadCpu, ThreadRole};
use sys::clock::monotonic;
use units::{Bytes, Nanos};

use super::{GRACE, flow::Flow, pulse::Pulse};
use crate::{
    crew::{Shared, Spent},
    error::{Error, Result},
    socket::{is_wait, tcp_facts},
};

/// The receiver may begin this much after the sender, when its machine is busy.
const TOLERANCE: Nanos = Nanos::from_millis(500);

/// Reads until the end of the stream.
pub(super) fn run(flow: &Flow<'_>, shared: &Shared<'_>, buffer: &mut [u8]) -> Result<(EndSeries, ThreadCpu)> {
    let spent = Spent::from_now();
    let mut pulse = Pulse::begin(shared, &flow.socket, &flow.name, flow.settings, true);
    let limit = match flow.settings.until {
        Until::Elapsed(time) => Some(pulse.begun() + (flow.settings.warmup + time + GRACE).0),
        Until::Sent(_) => None,
    };
    let end = loop {
        let read = read(&flow.socket, buffer, &flow.name)?;
        let now = monotonic();
        match read {
            Arrival::Bytes(bytes) => pulse.count(bytes, now)?,
            Arrival::End => break now,
            Arrival::Nothing => {
                pulse.count(0, now)?;
                check_patience(flow, &pulse, limit, now)?;
            }
        }
    };
    let thread = spent.until_now(flow.end, ThreadRole::Receive);
    let total = pulse.total();
    let series = pulse.finish(end, tcp_facts(&flow.socket, flow.cpus));
    check_whole(flow, total, thread.elapsed)?;
    Ok((series, thread))
}

/// A sender whose process was killed ends its stream as one that has finished does.
fn check_whole(flow: &Flow<'_>, total: u64, lasted: Nanos) -> Result<()> {
    let cut = |got: String, asked: String| Err(Error::CutShort { object: flow.name.clone(), got, asked });
    match flow.settings.until {
        Until::Sent(_) => {
            let share = flow.share.unwrap_or(0);
            if total < share { cut(Bytes(total).to_string(), Bytes(share).to_string()) } else { Ok(()) }
        }
        Until::Elapsed(time) => {
            let asked = flow.settings.warmup + time;
            if lasted + TOLERANCE < asked { cut(lasted.to_string(), asked.to_string()) } else { Ok(()) }
        }
    }
}

/// What one read brought.
enum Arrival {
    Bytes(usize),
    End,
    /// Not within the time that a wait may last.
    Nothing,
}

#[inline]
fn read(mut socket: &TcpStream, buffer: &mut [u8], name: &str) -> Result<Arrival> {
    match socket.read(buffer) {
        Ok(0) => Ok(Arrival::End),
        Ok(bytes) => Ok(Arrival::Bytes(bytes)),
        Err(error) if is_wait(&error) => Ok(Arrival::Nothing),
        Err(error) => Err(Error::socket("receive on", || name)(error)),
    }
}

fn check_patience(flow: &Flow<'_>, pulse: &Pulse<'_>, limit: Option<u64>, now: u64) -> Result<()> {
    let Some(limit) = limit else { return pulse.check_moving(now) };
    if now < limit {
        return Ok(());
    }
    let missing = "the end of the stream".into();
    Err(Error::Silent { object: flow.name.clone(), missing, waited: GRACE })
}
