//! Matches replies to messages. No other module interprets message numbers from a peer.

use super::{
    message::{Format, Reply},
    message_socket::MessageSocket,
    recorder::Recorder,
    window::{Claim, Window},
};
use crate::error::Result;

pub(super) struct Answer {
    pub(super) number: u64,
    /// In nanoseconds.
    pub(super) late: u64,
}

#[inline]
pub(super) fn match_answer<F: Format>(
    socket: &MessageSocket,
    format: &F,
    window: &Window,
    received: &[u8],
    notes: &mut Recorder<'_>,
) -> Result<Option<Answer>> {
    match format.read(received, window.next()) {
        Reply::Answer(number) => match window.take(number) {
            Claim::Taken(late) => return Ok(Some(Answer { number, late })),
            Claim::Past => notes.duplicate(),
            Claim::Unsent => notes.stray(),
        },
        Reply::Before => notes.duplicate(),
        Reply::Greeting => {}
        Reply::End(reason) => return Err(socket.ended(reason)),
        Reply::Unknown => notes.stray(),
    }
    Ok(None)
}
