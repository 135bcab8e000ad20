//! Which of what comes in is the answer to a message: the one place where a peer's number is believed.

use super::{
    message::{Format, Reply},
    message_socket::MessageSocket,
    recorder::Recorder,
    window::{Claim, Window},
};
use crate::error::Result;

/// A message that has come back.
pub(super) struct Answer {
    pub(super) number: u64,
    /// How much later than its time it had left.
    pub(super) late: u64,
}

/// The message that `received` answers. What answers none is noted, and no more is made of it.
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
        Reply::End(because) => return Err(socket.ended(because)),
        Reply::Unknown => notes.stray(),
    }
    Ok(None)
}
