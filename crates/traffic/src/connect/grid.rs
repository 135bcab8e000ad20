//! Interval boundaries shared by all threads, so that counts can be added up.

use units::Nanos;
use workload::{ConnectInterval, ConnectSettings};

#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    pub(super) begin: u64,
    pub(super) warm: u64,
    pub(super) end: u64,
    interval: u64,
}

impl Grid {
    pub(super) fn new(load: &ConnectSettings, begin: u64) -> Self {
        let warm = begin + load.warmup.0;
        Self { begin, warm, end: warm + load.duration.0, interval: load.interval.0 }
    }

    fn warming(&self) -> usize {
        (self.warm - self.begin).div_ceil(self.interval) as usize
    }

    pub(super) fn place(&self, now: u64) -> usize {
        if now < self.warm {
            return ((now - self.begin) / self.interval) as usize;
        }
        let last = (self.end - self.warm).div_ceil(self.interval).max(1) as usize - 1;
        self.warming() + (((now - self.warm) / self.interval) as usize).min(last)
    }

    pub(super) fn count(&self) -> usize {
        self.place(self.end) + 1
    }

    pub(super) fn interval(&self, place: usize, last: u64) -> ConnectInterval {
        let warmup = place < self.warming();
        let edge = |place: usize| {
            let (from, to, nth) = if place < self.warming() || (warmup && place == self.warming()) {
                (self.begin, self.warm, place)
            } else {
                (self.warm, self.end, place - self.warming())
            };
            (from + nth as u64 * self.interval).min(to) - self.begin
        };
        let end = if place + 1 == self.count() { last.max(self.begin) - self.begin } else { edge(place + 1) };
        let start = edge(place);
        ConnectInterval { start: Nanos(start), end: Nanos(end.max(start)), warmup, done: 0, failed: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(warmup: u64, duration: u64, interval: u64, expected: &[(u64, u64, bool)]) {
        let load = ConnectSettings {
            warmup: Nanos(warmup),
            interval: Nanos(interval),
            ..ConnectSettings::new(Nanos(duration))
        };
        let grid = Grid::new(&load, 1000);
        let last = 1000 + warmup + duration;
        let all: Vec<_> = (0..grid.count())
            .map(|place| grid.interval(place, last))
            .map(|interval| (interval.start.0, interval.end.0, interval.warmup))
            .collect();
        assert_eq!(all, expected, "{warmup} {duration} {interval}");
        for (place, &(start, end, _)) in expected.iter().enumerate() {
            assert_eq!(grid.place(1000 + start), place);
            assert_eq!(grid.place(1000 + end - 1), place);
        }
        assert_eq!(grid.place(u64::MAX / 2), expected.len() - 1);
    }

    #[test]
    fn intervals_are_contiguous_and_split_at_the_end_of_warmup() {
        check(0, 20, 10, &[(0, 10, false), (10, 20, false)]);
        check(0, 25, 10, &[(0, 10, false), (10, 20, false), (20, 25, false)]);
        check(15, 10, 10, &[(0, 10, true), (10, 15, true), (15, 25, false)]);
        check(10, 5, 100, &[(0, 10, true), (10, 15, false)]);
    }
}
