//! The closed loop: the next message is sent when the last one has come back or was given up.

use sys::clock::monotonic;
use units::Nanos;

use super::{
    GRACE, OVERDUE,
    line::{Arrival, Inbox, Line},
    message::Format,
    recorder::Recorder,
};
use crate::{
    error::{Error, Result},
    refused::Refused,
};

/// Sends and awaits, until the time is over.
pub(super) fn run<F: Format>(
    line: &Line,
    mut format: F,
    length: usize,
    notes: &mut Recorder<'_>,
) -> Result<()> {
    let mut inbox = line.inbox(Some(length));
    for number in 0.. {
        let bytes = format.write(number);
        let sent = monotonic();
        line.send(bytes, || patience(line, notes))?;
        let now = match answered(line, &format, &mut inbox, sent, notes)? {
            Some(now) => {
                notes.answered(sent, now)?;
                now
            }
            None => {
                let now = monotonic();
                notes.lost(1, sent, now)?;
                now
            }
        };
        if notes.is_over(now) {
            break;
        }
    }
    Ok(())
}

/// When the answer to the last message came; `None` when it is lost. Late answers to earlier ones are dropped.
#[inline]
fn answered<F: Format>(
    line: &Line,
    format: &F,
    inbox: &mut Inbox,
    sent: u64,
    notes: &Recorder<'_>,
) -> Result<Option<u64>> {
    loop {
        match line.receive(inbox).map_err(line.broken())? {
            Arrival::Message(bytes) if format.is_answer(bytes) => return Ok(Some(monotonic())),
            Arrival::Message(bytes) => match format.end(bytes) {
                Some(because) => return Err(line.ended(because)),
                None => patience(line, notes)?,
            },
            Arrival::Nothing => patience(line, notes)?,
            Arrival::End => return Err(line.ended(Refused::Unsaid)),
        }
        if !line.is_stream() && monotonic() >= sent + OVERDUE.0 {
            return Ok(None);
        }
    }
}

/// Fails when it was asked to stop, and when a stream carries nothing long after the time was over.
fn patience(line: &Line, notes: &Recorder<'_>) -> Result<()> {
    notes.check()?;
    if line.is_stream() && monotonic() >= notes.end() + GRACE.0 {
        let missing = "the end of the exchange".into();
        return Err(Error::Silent { object: line.name().into(), missing, waited: GRACE });
    }
    Ok(())
}

/// How long the closing exchange of a datagram may take.
pub(super) fn answered_within<F: Format>(line: &Line, format: &F, inbox: &mut Inbox, wait: Nanos) -> bool {
    let until = monotonic() + wait.0;
    while monotonic() < until {
        match line.receive(inbox) {
            Ok(Arrival::Message(bytes)) if format.is_answer(bytes) => return true,
            Ok(Arrival::Message(_) | Arrival::Nothing) => {}
            // The server has closed its socket: it has heard.
            Ok(Arrival::End) | Err(_) => return true,
        }
    }
    false
}
