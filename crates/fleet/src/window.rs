//! How far a session has come: chunks in order, so many under way at most, and a lease that each message renews. Time is handed
//! in. Must not know how messages are carried.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use crate::frame::{Frame, FrameKind};

/// Bytes of a chunk, at most: far below what a server takes (1 MiB unless it is told otherwise).
pub(crate) const CHUNK: usize = 32 << 10;
/// Chunks that were sent and not yet consumed, at most.
const MOST: u64 = 64;
/// After so many that were consumed the sender is told.
const TELL: u64 = MOST / 2;
/// Whoever hears nothing for so long ends the session.
pub const LEASE: Duration = Duration::from_secs(15);
/// How often the other side hears something at least.
pub(crate) const RENEWAL: Duration = Duration::from_secs(3);

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SessionEnd {
    /// All was sent that was to be; what was said last.
    Complete(String),
    /// It broke off.
    Broken(String),
}

/// One end of a session.
#[derive(Debug)]
pub(crate) struct Window {
    sent: u64,
    /// Of those, the other side has consumed so many.
    taken: u64,
    received: u64,
    consumed: u64,
    /// Of those, the other side has been told so many.
    told: u64,
    waiting: VecDeque<Vec<u8>>,
    /// The other side sends no more chunks.
    complete: bool,
    heard: Instant,
    spoke: Instant,
    end: Option<SessionEnd>,
}

impl Window {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            sent: 0,
            taken: 0,
            received: 0,
            consumed: 0,
            told: 0,
            waiting: VecDeque::new(),
            complete: false,
            heard: now,
            spoke: now,
            end: None,
        }
    }

    /// Takes a message of the other side.
    pub(crate) fn take(&mut self, message: &[u8], now: Instant) {
        if self.end.is_some() {
            return;
        }
        self.heard = now;
        let Some(frame) = Frame::decode(message) else {
            return self.finish(SessionEnd::Broken(
                "the other side sent what is no message of a session".to_owned(),
            ));
        };
        let said = || String::from_utf8_lossy(frame.bytes).into_owned();
        if frame.kind == FrameKind::Break {
            return self.finish(SessionEnd::Broken(said()));
        }
        if frame.sent != self.received {
            let text = format!(
                "messages were lost on the way by NATS: {} chunks came of {}",
                self.received, frame.sent
            );
            return self.finish(SessionEnd::Broken(text));
        }
        self.taken = self.taken.max(frame.consumed.min(self.sent));
        match frame.kind {
            FrameKind::Chunk if self.received - self.consumed >= MOST || frame.bytes.len() > CHUNK => {
                self.finish(SessionEnd::Broken("the other side sent more than was agreed on".to_owned()));
            }
            FrameKind::Chunk => {
                self.received += 1;
                self.waiting.push_back(frame.bytes.to_vec());
            }
            FrameKind::LastChunk => self.complete = true,
            FrameKind::End => self.finish(SessionEnd::Complete(said())),
            FrameKind::Renewal | FrameKind::Break => {}
        }
    }

    /// Ends it where nothing was heard for too long. `away` is the server that cannot carry anything now.
    pub(crate) fn expire(&mut self, now: Instant, away: Option<&str>) {
        if now.saturating_duration_since(self.heard) > LEASE {
            let seconds = LEASE.as_secs();
            let text = match away {
                Some(server) => format!("the NATS server {server} is away, for {seconds} s by now"),
                None => format!("nothing was heard of the other side for {seconds} s"),
            };
            self.finish(SessionEnd::Broken(text));
        }
    }

    /// Ends it; the first reason stays.
    pub(crate) fn finish(&mut self, end: SessionEnd) {
        self.end.get_or_insert(end);
    }

    pub(crate) fn end(&self) -> Option<&SessionEnd> {
        self.end.as_ref()
    }

    /// Whether a chunk may be sent.
    pub(crate) fn has_room(&self) -> bool {
        self.sent - self.taken < MOST
    }

    /// The message that is sent next.
    pub(crate) fn speak(&mut self, kind: FrameKind, bytes: &[u8], now: Instant) -> Vec<u8> {
        let message = Frame { kind, sent: self.sent, consumed: self.consumed, bytes }.encode();
        if kind == FrameKind::Chunk {
            self.sent += 1;
        }
        (self.told, self.spoke) = (self.consumed, now);
        message
    }

    /// How long it may be silent still.
    pub(crate) fn due(&self, now: Instant) -> Duration {
        RENEWAL.saturating_sub(now.saturating_duration_since(self.spoke))
    }

    /// The next chunk that came.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        let chunk = self.waiting.pop_front()?;
        self.consumed += 1;
        Some(chunk)
    }

    /// Whether the other side should be told how much was consumed.
    pub(crate) fn should_tell(&self) -> bool {
        self.consumed - self.told >= TELL
    }

    /// Whether no chunk will come any more, beside those that wait.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }
}

#[cfg(any(test, fuzzing))]
impl Window {
    /// What holds whatever the other side has sent.
    pub(crate) fn check(&self) {
        assert!(self.taken <= self.sent && self.sent - self.taken <= MOST, "{self:?}");
        assert!(self.told <= self.consumed && self.consumed <= self.received, "{self:?}");
        assert_eq!(self.waiting.len() as u64, self.received - self.consumed);
        assert!(self.waiting.len() as u64 <= MOST && self.waiting.iter().all(|chunk| chunk.len() <= CHUNK));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Window, Window, Instant) {
        let now = Instant::now();
        (Window::new(now), Window::new(now), now)
    }

    #[track_caller]
    fn broken(window: &Window, word: &str) {
        assert!(matches!(window.end(), Some(SessionEnd::Broken(text)) if text.contains(word)), "{window:?}");
    }

    #[test]
    fn chunks_come_in_order_and_the_end_says_why() {
        let (mut from, mut to, now) = pair();
        for chunk in [&b"one"[..], b"two"] {
            to.take(&from.speak(FrameKind::Chunk, chunk, now), now);
        }
        to.take(&from.speak(FrameKind::LastChunk, b"", now), now);
        to.take(&from.speak(FrameKind::End, b"said", now), now);
        let came: Vec<_> = std::iter::from_fn(|| to.next()).collect();
        assert_eq!(came, [b"one", b"two"]);
        assert!(to.is_complete());
        assert_eq!(to.end(), Some(&SessionEnd::Complete("said".to_owned())));
    }

    #[test]
    fn a_chunk_that_is_lost_or_comes_twice_ends_it_even_where_it_was_the_last() {
        let (mut from, mut to, now) = pair();
        let _ = from.speak(FrameKind::Chunk, b"lost", now);
        to.take(&from.speak(FrameKind::Renewal, b"", now), now);
        broken(&to, "0 chunks came of 1");
        let (mut from, mut to, now) = pair();
        let chunk = from.speak(FrameKind::Chunk, b"twice", now);
        to.take(&chunk, now);
        to.take(&chunk, now);
        broken(&to, "lost");
    }

    #[test]
    fn so_much_is_under_way_and_no_more() {
        let (mut from, mut to, now) = pair();
        while from.has_room() {
            to.take(&from.speak(FrameKind::Chunk, b"x", now), now);
        }
        assert_eq!(from.sent, MOST);
        while !to.should_tell() {
            to.next().expect("they wait");
        }
        from.take(&to.speak(FrameKind::Renewal, b"", now), now);
        assert_eq!(from.taken, TELL);
        assert!(from.has_room() && !to.should_tell());
        for _ in 0..=TELL {
            to.take(&from.speak(FrameKind::Chunk, b"x", now), now);
        }
        broken(&to, "more than was agreed on");
    }

    #[test]
    fn silence_ends_it_when_the_lease_does_and_any_message_renews_it() {
        let (mut from, mut to, now) = pair();
        let later = now + LEASE;
        assert_eq!((from.due(now), from.due(later)), (RENEWAL, Duration::ZERO));
        to.take(&from.speak(FrameKind::Renewal, b"", later), later);
        to.expire(later + LEASE, None);
        assert_eq!(to.end(), None);
        to.expire(later + LEASE + Duration::from_millis(1), None);
        broken(&to, "nothing was heard");
    }

    #[test]
    fn what_is_no_frame_ends_it_and_a_break_says_why() {
        let (mut from, mut to, now) = pair();
        to.take(b"?", now);
        broken(&to, "no message of a session");
        from.take(&Window::new(now).speak(FrameKind::Break, b"told to end", now), now);
        broken(&from, "told to end");
    }
}
