//! Pauses accepting on a listener after the process has run out of descriptors or memory.

use units::Nanos;

const BACKOFF: Nanos = Nanos::from_millis(100);

#[derive(Debug, Default)]
pub(super) struct AcceptBackoff(Vec<(usize, u64)>);

impl AcceptBackoff {
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
    fn pauses_each_listener_once_for_the_backoff_time() {
        let mut paused = AcceptBackoff::default();
        paused.pause(0, 0);
        paused.pause(1, 10);
        assert!(paused.expired(BACKOFF.0 - 1).is_empty());
        assert_eq!(paused.expired(BACKOFF.0), [0]);
        paused.pause(1, 20);
        assert!(paused.expired(BACKOFF.0 + 19).is_empty(), "pausing again restarts the pause");
        assert_eq!(paused.expired(BACKOFF.0 + 20), [1]);
        assert!(paused.expired(u64::MAX).is_empty());
    }
}
