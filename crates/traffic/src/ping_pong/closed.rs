//! The closed loop, which sends the next message once the previous one has returned or timed out.

use sys::clock::monotonic;
use units::Nanos;

use super::{
    GRACE, OVERDUE,
    answer::match_answer,
    message::{Format, Message},
    message_socket::{Arrival, Inbox, MessageSocket},
    recorder::Recorder,
    window::Window,
};
use crate::{
    error::{Error, Result},
    refused::RefusalCode,
};

pub(super) fn run<F: Format>(
    socket: &MessageSocket,
    mut format: F,
    length: usize,
    notes: &mut Recorder<'_>,
) -> Result<()> {
    let mut inbox = socket.inbox(Some(length));
    let window = Window::new(1);
    for number in 0.. {
        let bytes = format.write(number);
        window.put(number, 0);
        let sent = monotonic();
        socket.send(bytes, || patience(socket, notes))?;
        let now = match answered(socket, &format, &window, &mut inbox, sent, notes)? {
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

/// A stream loses no messages, but a reply may carry a wrong number.
#[inline]
fn answered<F: Format>(
    socket: &MessageSocket,
    format: &F,
    window: &Window,
    inbox: &mut Inbox,
    sent: u64,
    notes: &mut Recorder<'_>,
) -> Result<Option<u64>> {
    let before = notes.odd();
    loop {
        match socket.receive(inbox).map_err(socket.broken())? {
            Arrival::Message(bytes) => {
                if match_answer(socket, format, window, bytes, notes)?.is_some() {
                    return Ok(Some(monotonic()));
                }
            }
            Arrival::Nothing => {}
            Arrival::End => return Err(socket.ended(RefusalCode::Unspecified)),
        }
        patience(socket, notes)?;
        let may_be_lost = !socket.is_stream() || notes.odd() > before;
        if may_be_lost && monotonic() >= sent + OVERDUE.0 {
            return Ok(None);
        }
    }
}

/// Fails if a stop was requested, or if a stream stays silent long after the end of the test.
fn patience(socket: &MessageSocket, notes: &Recorder<'_>) -> Result<()> {
    notes.check()?;
    if socket.is_stream() && monotonic() >= notes.end() + GRACE.0 {
        let missing = "the end of the exchange".into();
        return Err(Error::Silent { object: socket.name().into(), missing, waited: GRACE });
    }
    Ok(())
}

pub(super) fn answered_within(
    socket: &MessageSocket,
    message: &Message,
    inbox: &mut Inbox,
    wait: Nanos,
) -> bool {
    let until = monotonic() + wait.0;
    while monotonic() < until {
        match socket.receive(inbox) {
            Ok(Arrival::Message(bytes)) if message.is_answered_by(bytes) => return true,
            Ok(Arrival::Message(_) | Arrival::Nothing) => {}
            // The server closed its socket, so it must have received the final message.
            Ok(Arrival::End) | Err(_) => return true,
        }
    }
    false
}
