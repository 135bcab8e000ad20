//! Listening sockets that are left alone for a moment. Time is handed in.

use units::Nanos;

/// How long one rests.
const REST: Nanos = Nanos::from_millis(100);

/// Those that rest, by their place, and until when.
#[derive(Debug, Default)]
pub(super) struct Resting(Vec<(usize, u64)>);

impl Resting {
    /// One begins to rest, or does not yet end.
    pub(super) fn rest(&mut self, place: usize, now: u64) {
        self.0.retain(|(resting, _)| *resting != place);
        self.0.push((place, now + REST.0));
    }

    /// Those that have rested enough.
    pub(super) fn rested(&mut self, now: u64) -> Vec<usize> {
        self.0.extract_if(.., |(_, until)| now >= *until).map(|(place, _)| place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rests_for_its_time_and_wakes_once() {
        let mut resting = Resting::default();
        resting.rest(0, 0);
        resting.rest(1, 10);
        assert!(resting.rested(REST.0 - 1).is_empty());
        assert_eq!(resting.rested(REST.0), [0]);
        resting.rest(1, 20);
        assert!(resting.rested(REST.0 + 19).is_empty(), "it rests anew");
        assert_eq!(resting.rested(REST.0 + 20), [1]);
        assert!(resting.rested(u64::MAX).is_empty());
    }
}
