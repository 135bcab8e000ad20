//! Listening sockets that accept nothing for a moment, for want of descriptors or memory. Time is handed in.

use units::Nanos;

const BACKOFF: Nanos = Nanos::from_millis(100);

/// Their index, and until when.
#[derive(Debug, Default)]
pub(super) struct AcceptBackoff(Vec<(usize, u64)>);

impl AcceptBackoff {
    /// Begins anew where one is paused already.
    pub(super) fn pause(&mut self, index: usize, now: u64) {
        self.0.retain(|(paused, _)| *paused != index);
        self.0.push((index, now + BACKOFF.0));
    }

    pub(super) fn expired(&mut self, now: u64) -> Vec<usize> {
        self.0.extract_if(.., |(_, until)| now >= *until).map(|(index, _)| index).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_paused_for_its_time_and_once() {
        let mut paused = AcceptBackoff::default();
        paused.pause(0, 0);
        paused.pause(1, 10);
        assert!(paused.expired(BACKOFF.0 - 1).is_empty());
        assert_eq!(paused.expired(BACKOFF.0), [0]);
        paused.pause(1, 20);
        assert!(paused.expired(BACKOFF.0 + 19).is_empty(), "it begins anew");
        assert_eq!(paused.expired(BACKOFF.0 + 20), [1]);
        assert!(paused.expired(u64::MAX).is_empty());
    }
}
