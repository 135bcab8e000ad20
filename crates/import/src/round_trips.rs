//! Groups round trips into a bounded number of intervals of equal length.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    mem,
};

use units::Nanos;
use workload::{LatencyHistogram, PingPongInterval};

/// In nanoseconds.
const LENGTH: u64 = 100_000_000;

const MOST: u64 = 2048;

/// Maximum number of intervals per round trip, for logs with few round trips over a long time.
const EACH: u64 = 32;

#[derive(Debug)]
pub(crate) struct Intervals {
    length: u64,
    /// Non-empty intervals by index. A log may have gaps of years.
    done: BTreeMap<u64, LatencyHistogram>,
    place: u64,
    current: LatencyHistogram,
}

impl Default for Intervals {
    fn default() -> Self {
        Self { length: LENGTH, done: BTreeMap::new(), place: 0, current: LatencyHistogram::new() }
    }
}

impl Intervals {
    /// Adds a round trip to the interval that contains its end time, relative to the first message. If that interval
    /// is already complete, adds it to the current one.
    pub(crate) fn record(&mut self, ended: Nanos, took: Nanos) {
        while ended.0 / self.length >= MOST {
            self.double();
        }
        let place = ended.0 / self.length;
        if place > self.place {
            self.store_current();
            self.place = place;
        }
        self.current.record(took);
    }

    pub(crate) fn finish(mut self, elapsed: Nanos) -> Vec<PingPongInterval> {
        self.store_current();
        let round_trips: u64 = self.done.values().map(LatencyHistogram::count).sum();
        while self.count() > round_trips.saturating_mul(EACH) {
            self.double();
            self.store_current();
        }
        let silent = LatencyHistogram::new().packed();
        let interval = |place: u64| PingPongInterval {
            start: Nanos(place * self.length),
            end: Nanos((place + 1).saturating_mul(self.length).min(elapsed.0.max(place * self.length))),
            warmup: false,
            round_trips: self.done.get(&place).unwrap_or(&silent).clone(),
            lost: 0,
        };
        (0..self.count()).map(interval).collect()
    }

    fn count(&self) -> u64 {
        self.done.last_key_value().map_or(0, |(place, _)| place + 1)
    }

    fn store_current(&mut self) {
        let current = mem::take(&mut self.current);
        if current.count() > 0 {
            self.done.insert(self.place, current.packed());
        }
    }

    fn double(&mut self) {
        self.length *= 2;
        self.place /= 2;
        let mut merged = BTreeMap::<u64, LatencyHistogram>::new();
        for (place, part) in mem::take(&mut self.done) {
            match merged.entry(place / 2) {
                Entry::Vacant(free) => _ = free.insert(part),
                Entry::Occupied(mut taken) => {
                    taken.get_mut().merge(&part);
                    let packed = taken.get().packed();
                    taken.insert(packed);
                }
            }
        }
        if let Some(begun) = merged.remove(&self.place) {
            self.current.merge(&begun);
        }
        self.done = merged;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_count_in_the_interval_of_their_end() {
        let mut intervals = Intervals::default();
        for ended in [0, 50, 99, 100, 350, 349] {
            intervals.record(Nanos(ended * 1_000_000), Nanos(1000));
        }
        let all = intervals.finish(Nanos(360_000_000));
        let counts: Vec<_> = all
            .iter()
            .map(|one| (one.start.0 / 1_000_000, one.end.0 / 1_000_000, one.round_trips.count()))
            .collect();
        assert_eq!(counts, [(0, 100, 3), (100, 200, 1), (200, 300, 0), (300, 360, 2)]);
    }

    #[test]
    fn long_log_has_longer_intervals_without_losses() {
        let mut intervals = Intervals::default();
        for at in 0..5000 {
            intervals.record(Nanos(at * LENGTH), Nanos(1000 + at));
        }
        let all = intervals.finish(Nanos(5000 * LENGTH));
        assert!(all.len() < MOST as usize, "{}", all.len());
        assert_eq!(all.iter().map(|one| one.round_trips.count()).sum::<u64>(), 5000);
        assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start));
    }

    #[test]
    fn gap_of_years_costs_no_memory() {
        let mut intervals = Intervals::default();
        // Each time is twice the previous one and doubles the length of the intervals.
        let times: Vec<u64> = (0..64).map(|power| 1 << power).chain([u64::MAX]).collect();
        for &at in &times {
            intervals.record(Nanos(at), Nanos(1000));
        }
        let all = intervals.finish(Nanos(u64::MAX));
        assert!(all.len() <= MOST as usize, "{}", all.len());
        assert_eq!(all.iter().map(|one| one.round_trips.count()).sum::<u64>(), times.len() as u64);
        assert_eq!(all.iter().filter(|one| one.round_trips.count() > 0).count(), 12);
    }
}
