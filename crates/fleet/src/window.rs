//! The state of a session: the order of chunks, the number of chunks in transit, and the lease.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use crate::frame::{Frame, FrameKind};

/// The size of a chunk in bytes. The server's default maximum is 1 MiB.
pub(crate) const CHUNK: usize = 32 << 10;
const MOST: u64 = 64;
const REPORT_AFTER: u64 = MOST / 2;
/// The session ends if the peer is silent for this long.
pub const LEASE: Duration = Duration::from_secs(15);
pub(crate) const RENEWAL: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SessionEnd {
    Complete(String),
    Broken(String),
}

#[derive(Debug)]
pub(crate) struct Window {
    sent: u64,
    taken: u64,
    received: u64,
    consumed: u64,
    reported: u64,
    waiting: VecDeque<Vec<u8>>,
    complete: bool,
    last_received: Instant,
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
            reported: 0,
            waiting: VecDeque::new(),
            complete: false,
            last_received: now,
            spoke: now,
            end: None,
        }
    }

    pub(crate) fn take(&mut self, message: &[u8], now: Instant) {
        if self.end.is_some() {
            return;
        }
        self.last_received = now;
        let Some(frame) = Frame::decode(message) else {
            return self.finish(SessionEnd::Broken("the peer sent an invalid session message".to_owned()));
        };
        let text = || String::from_utf8_lossy(frame.bytes).into_owned();
        if frame.kind == FrameKind::Break {
            return self.finish(SessionEnd::Broken(text()));
        }
        if frame.sent != self.received {
            let text = format!("NATS lost messages: received {} of {} chunks", self.received, frame.sent);
            return self.finish(SessionEnd::Broken(text));
        }
        self.taken = self.taken.max(frame.consumed.min(self.sent));
        match frame.kind {
            FrameKind::Chunk if self.received - self.consumed >= MOST || frame.bytes.len() > CHUNK => {
                self.finish(SessionEnd::Broken("the peer exceeded the flow-control window".to_owned()));
            }
            FrameKind::Chunk => {
                self.received += 1;
                self.waiting.push_back(frame.bytes.to_vec());
            }
            FrameKind::LastChunk => self.complete = true,
            FrameKind::End => self.finish(SessionEnd::Complete(text())),
            FrameKind::Renewal | FrameKind::Break => {}
        }
    }

    /// `away` is set if the server is unreachable.
    pub(crate) fn expire(&mut self, now: Instant, away: Option<&str>) {
        if now.saturating_duration_since(self.last_received) > LEASE {
            let seconds = LEASE.as_secs();
            let text = match away {
                Some(server) => format!("the NATS server {server} is unreachable (for {seconds} s)"),
                None => format!("no message from the peer for {seconds} s"),
            };
            self.finish(SessionEnd::Broken(text));
        }
    }

    pub(crate) fn finish(&mut self, end: SessionEnd) {
        self.end.get_or_insert(end);
    }

    pub(crate) fn end(&self) -> Option<&SessionEnd> {
        self.end.as_ref()
    }

    pub(crate) fn has_room(&self) -> bool {
        self.sent - self.taken < MOST
    }

    pub(crate) fn speak(&mut self, kind: FrameKind, bytes: &[u8], now: Instant) -> Vec<u8> {
        let message = Frame { kind, sent: self.sent, consumed: self.consumed, bytes }.encode();
        if kind == FrameKind::Chunk {
            self.sent += 1;
        }
        (self.reported, self.spoke) = (self.consumed, now);
        message
    }

    pub(crate) fn due(&self, now: Instant) -> Duration {
        RENEWAL.saturating_sub(now.saturating_duration_since(self.spoke))
    }

    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        let chunk = self.waiting.pop_front()?;
        self.consumed += 1;
        Some(chunk)
    }

    pub(crate) fn should_report(&self) -> bool {
        self.consumed - self.reported >= REPORT_AFTER
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }
}

#[cfg(any(test, fuzzing))]
impl Window {
    pub(crate) fn check(&self) {
        assert!(self.taken <= self.sent && self.sent - self.taken <= MOST, "{self:?}");
        assert!(self.reported <= self.consumed && self.consumed <= self.received, "{self:?}");
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
    fn delivers_chunks_in_order_and_reason_of_end() {
        let (mut from, mut to, now) = pair();
        for chunk in [&b"one"[..], b"two"] {
            to.take(&from.speak(FrameKind::Chunk, chunk, now), now);
        }
        to.take(&from.speak(FrameKind::LastChunk, b"", now), now);
        to.take(&from.speak(FrameKind::End, b"output", now), now);
        let came: Vec<_> = std::iter::from_fn(|| to.next()).collect();
        assert_eq!(came, [b"one", b"two"]);
        assert!(to.is_complete());
        assert_eq!(to.end(), Some(&SessionEnd::Complete("output".to_owned())));
    }

    #[test]
    fn lost_or_repeated_chunk_ends_session() {
        let (mut from, mut to, now) = pair();
        let _ = from.speak(FrameKind::Chunk, b"lost", now);
        to.take(&from.speak(FrameKind::Renewal, b"", now), now);
        broken(&to, "received 0 of 1 chunks");
        let (mut from, mut to, now) = pair();
        let chunk = from.speak(FrameKind::Chunk, b"twice", now);
        to.take(&chunk, now);
        to.take(&chunk, now);
        broken(&to, "lost");
    }

    #[test]
    fn limits_chunks_in_transit() {
        let (mut from, mut to, now) = pair();
        while from.has_room() {
            to.take(&from.speak(FrameKind::Chunk, b"x", now), now);
        }
        assert_eq!(from.sent, MOST);
        while !to.should_report() {
            to.next().expect("they wait");
        }
        from.take(&to.speak(FrameKind::Renewal, b"", now), now);
        assert_eq!(from.taken, REPORT_AFTER);
        assert!(from.has_room() && !to.should_report());
        for _ in 0..=REPORT_AFTER {
            to.take(&from.speak(FrameKind::Chunk, b"x", now), now);
        }
        broken(&to, "exceeded the flow-control window");
    }

    #[test]
    fn any_message_renews_lease() {
        let (mut from, mut to, now) = pair();
        let later = now + LEASE;
        assert_eq!((from.due(now), from.due(later)), (RENEWAL, Duration::ZERO));
        to.take(&from.speak(FrameKind::Renewal, b"", later), later);
        to.expire(later + LEASE, None);
        assert_eq!(to.end(), None);
        to.expire(later + LEASE + Duration::from_millis(1), None);
        broken(&to, "no message from the peer");
    }

    #[test]
    fn invalid_frame_or_abort_ends_session() {
        let (mut from, mut to, now) = pair();
        to.take(b"?", now);
        broken(&to, "an invalid session message");
        from.take(&Window::new(now).speak(FrameKind::Break, b"stopped", now), now);
        broken(&from, "stopped");
    }
}
