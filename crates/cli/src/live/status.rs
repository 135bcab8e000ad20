//! The status line of a stream on a terminal. It shows the current rate, and the previous rates in steps of 0.1 s.

use std::collections::BTreeMap;

use ::workload::Interval;
use units::{BitRate, Nanos};

use crate::sparkline::sparkline;

const TICK: Nanos = Nanos::from_millis(100);
const MOST: usize = 40;

#[derive(Debug)]
pub(crate) struct StatusLine {
    whole: Option<Nanos>,
    ticks: BTreeMap<u64, f64>,
}

impl StatusLine {
    pub(crate) const fn new(whole: Option<Nanos>) -> Self {
        Self { whole, ticks: BTreeMap::new() }
    }

    /// Returns the line once a tick is complete, i.e. when a sample from the next tick arrives.
    pub(crate) fn take(&mut self, interval: &Interval, room: usize) -> Option<String> {
        let number = interval.start.0.midpoint(interval.end.0) / TICK.0;
        let is_next = self.ticks.last_key_value().is_some_and(|(last, _)| number > *last);
        let line = is_next.then(|| self.line(room));
        *self.ticks.entry(number).or_default() += interval.bytes.0 as f64 * 8.0 / TICK.seconds();
        while self.ticks.len() > MOST {
            self.ticks.pop_first();
        }
        line
    }

    fn line(&self, room: usize) -> String {
        let (last, now) = self.ticks.last_key_value().map_or((0, 0.0), |(last, rate)| (*last, *rate));
        let at = Nanos((last + 1) * TICK.0).seconds();
        let time =
            self.whole.map_or(format!("{at:.1} s"), |whole| format!("{at:.1} of {:.0} s", whole.seconds()));
        let text = format!("{time:>13}  {:>11}  ", BitRate(now).to_string());
        let bars =
            sparkline(self.ticks.values().copied(), room.saturating_sub(text.chars().count() + 1).min(MOST));
        text + &bars
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    #[test]
    fn shows_last_complete_tick_within_width() {
        let mut status = StatusLine::new(Some(Nanos::from_secs(10)));
        let mut printed = Vec::new();
        for tick in 0..100 {
            for _connection in 0..2 {
                let (start, end) = (Nanos(tick * TICK.0), Nanos((tick + 1) * TICK.0));
                let bytes = Bytes(if tick == 98 { 6_250_000 } else { 12_500_000 });
                let sample = Interval { start, end, bytes, warmup: false, tcp: None, datagrams: None };
                printed.extend(status.take(&sample, 79));
            }
        }
        assert_eq!(printed.len(), 99, "one per tick");
        assert!(printed[0].starts_with("  0.1 of 10 s  2.00 Gbit/s  █"), "{}", printed[0]);
        let last = &printed[98];
        assert!(last.starts_with("  9.9 of 10 s  1.00 Gbit/s  ") && last.ends_with("█▄"), "{last}");
        assert!(printed.iter().all(|line| line.chars().count() < 80));
    }
}
