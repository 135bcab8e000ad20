//! Round trips gathered into intervals of equal length, of which there are never too many.
//! Must not know where they come from.

use std::mem;

use samples::{LatencyHistogram, PingPongInterval};
use units::Nanos;

/// Intervals are this long, or twice, or four times it in a long log.
const LENGTH: u64 = 100_000_000;

/// So many are kept; of more, neighbours are merged.
const MOST: usize = 2048;

/// Intervals in order of time.
#[derive(Debug)]
pub(crate) struct Intervals {
    length: u64,
    done: Vec<LatencyHistogram>,
    current: LatencyHistogram,
}

impl Default for Intervals {
    fn default() -> Self {
        Self { length: LENGTH, done: Vec::new(), current: LatencyHistogram::new() }
    }
}

impl Intervals {
    /// Counts a round trip that ended at this time since the first message; one that ended before the interval
    /// under way counts in it.
    pub(crate) fn record(&mut self, ended: Nanos, took: Nanos) {
        while ended.0 / self.length > self.done.len() as u64 {
            let current = mem::take(&mut self.current);
            self.done.push(current.packed());
            if self.done.len() == MOST {
                self.merge();
            }
        }
        self.current.record(took);
    }

    /// All of them; the last ends with the log.
    pub(crate) fn finish(mut self, elapsed: Nanos) -> Vec<PingPongInterval> {
        let last = mem::take(&mut self.current);
        if last.count() > 0 {
            self.done.push(last.packed());
        }
        let starts = (0..).map(|at: u64| at * self.length);
        let interval = |(round_trips, start): (LatencyHistogram, u64)| PingPongInterval {
            start: Nanos(start),
            end: Nanos((start + self.length).min(elapsed.0.max(start))),
            warmup: false,
            round_trips,
            lost: 0,
        };
        self.done.into_iter().zip(starts).map(interval).collect()
    }

    fn merge(&mut self) {
        let merged = self.done.chunks(2).map(|pair| {
            let mut both = pair[0].clone();
            pair.iter().skip(1).for_each(|other| both.merge(other));
            both.packed()
        });
        self.done = merged.collect();
        self.length *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_trip_is_in_the_interval_in_which_it_ended() {
        let mut intervals = Intervals::default();
        for ended in [0, 50, 99, 100, 350, 349] {
            intervals.record(Nanos(ended * 1_000_000), Nanos(1000));
        }
        let all = intervals.finish(Nanos(360_000_000));
        let said: Vec<_> = all
            .iter()
            .map(|one| (one.start.0 / 1_000_000, one.end.0 / 1_000_000, one.round_trips.count()))
            .collect();
        assert_eq!(said, [(0, 100, 3), (100, 200, 1), (200, 300, 0), (300, 360, 2)]);
    }

    #[test]
    fn a_long_log_has_longer_intervals_and_loses_none() {
        let mut intervals = Intervals::default();
        for at in 0..5000 {
            intervals.record(Nanos(at * LENGTH), Nanos(1000 + at));
        }
        let all = intervals.finish(Nanos(5000 * LENGTH));
        assert!(all.len() < MOST, "{}", all.len());
        assert_eq!(all.iter().map(|one| one.round_trips.count()).sum::<u64>(), 5000);
        assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
}
