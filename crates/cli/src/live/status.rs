//! The line below the last one on a terminal, while a stream flows: its rate in the last tenth of a second and those before it.
//! It is written over and goes with the end, so that what stays is the lines. Must not know where it stands.

use std::collections::BTreeMap;

use ::workload::Interval;
use units::{BitRate, Nanos};

use crate::sparkline::sparkline;

/// What samples are put together to, all connections of both ways.
const TICK: Nanos = Nanos::from_millis(100);
/// Bars at most.
const MOST: usize = 40;

/// What a stream came to in the last seconds.
#[derive(Debug)]
pub(crate) struct StatusLine {
    /// How long it flows, where that is known.
    whole: Option<Nanos>,
    /// Bits a second by the number of the tick.
    ticks: BTreeMap<u64, f64>,
}

impl StatusLine {
    pub(crate) const fn new(whole: Option<Nanos>) -> Self {
        Self { whole, ticks: BTreeMap::new() }
    }

    /// Takes a sample; the line, once all of a tick is there: as soon as there is something of the next one.
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
    fn it_says_the_last_whole_tick_of_all_connections_and_fits() {
        let mut status = StatusLine::new(Some(Nanos::from_secs(10)));
        let mut said = Vec::new();
        for tick in 0..100 {
            for _connection in 0..2 {
                let (start, end) = (Nanos(tick * TICK.0), Nanos((tick + 1) * TICK.0));
                let bytes = Bytes(if tick == 98 { 6_250_000 } else { 12_500_000 });
                let sample = Interval { start, end, bytes, warmup: false, tcp: None, datagrams: None };
                said.extend(status.take(&sample, 79));
            }
        }
        assert_eq!(said.len(), 99, "once a tick");
        assert!(said[0].starts_with("  0.1 of 10 s  2.00 Gbit/s  █"), "{}", said[0]);
        let last = &said[98];
        assert!(last.starts_with("  9.9 of 10 s  1.00 Gbit/s  ") && last.ends_with("█▄"), "{last}");
        assert!(said.iter().all(|line| line.chars().count() < 80));
    }
}
