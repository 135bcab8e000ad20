//! Progress lines for the ping-pong workload: one line per interval, and a status line with the latest round trips.

use std::collections::VecDeque;

use ::workload::{LatencyHistogram, PingPongInterval};
use units::Nanos;

use crate::sparkline::sparkline;

const LATEST: usize = 10;
const MOST: usize = 40;

#[derive(Debug, Default)]
pub(crate) struct LatestRoundTrips {
    latest: VecDeque<(Nanos, LatencyHistogram)>,
    tails: VecDeque<f64>,
}

impl LatestRoundTrips {
    pub(crate) fn take(&mut self, interval: &PingPongInterval, room: usize) -> String {
        if self.latest.len() == LATEST {
            self.latest.pop_front();
        }
        if self.tails.len() == MOST {
            self.tails.pop_front();
        }
        let trips = &interval.round_trips;
        self.latest.push_back((interval.end - interval.start, trips.clone()));
        self.tails.push_back(trips.quantile(0.99).map_or(0.0, |time| time.0 as f64));
        let mut all = LatencyHistogram::new();
        self.latest.iter().for_each(|(_, trips)| all.merge(trips));
        let time: Nanos = Nanos(self.latest.iter().map(|(time, _)| time.0).sum());
        let last = format!("last {:.0} s", time.seconds());
        let text = format!("{last:>13}  {}  ", percentiles(&all));
        let bars =
            sparkline(self.tails.iter().copied(), room.saturating_sub(text.chars().count() + 5).min(MOST));
        format!("{text}p99 {bars}")
    }
}

fn percentiles(trips: &LatencyHistogram) -> String {
    let show = |time: Option<Nanos>| time.map_or_else(|| "-".to_owned(), |time| time.to_string());
    let (p50, p99) = (show(trips.quantile(0.5)), show(trips.quantile(0.99)));
    format!("p50 {p50:>7}  p99 {p99:>7}  max {:>7}", show(trips.max()))
}

/// The times are full round trips.
pub(crate) fn line(interval: &PingPongInterval) -> String {
    let time = format!("{:.1}-{:.1} s", interval.start.seconds(), interval.end.seconds());
    let warmup = if interval.warmup { "  (warm-up)" } else { "" };
    format!(
        "{time:>13}  {:>8} round trips  {}  lost {}{warmup}",
        interval.round_trips.count(),
        percentiles(&interval.round_trips),
        interval.lost
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_covers_latest_intervals_within_width() {
        let mut latest = LatestRoundTrips::default();
        let mut status = String::new();
        for second in 0..60 {
            let mut round_trips = LatencyHistogram::new();
            round_trips.record(Nanos(if second < 50 { 90_000 } else { 30_000 }));
            let (start, end) = (Nanos::from_secs(second), Nanos::from_secs(second + 1));
            status = latest.take(&PingPongInterval { start, end, warmup: false, round_trips, lost: 0 }, 79);
        }
        assert!(
            status.starts_with("    last 10 s  p50 30.0 µs  p99 30.0 µs  max 30.0 µs  p99 █"),
            "{status}"
        );
        assert!(status.ends_with("▃▃") && status.chars().count() < 80, "{status}");
    }

    #[test]
    fn prints_counts_and_percentiles() {
        let mut round_trips = LatencyHistogram::new();
        (1..=100).for_each(|n| round_trips.record(Nanos(n * 1000)));
        let (start, end) = (Nanos(0), Nanos::from_secs(1));
        let interval = PingPongInterval { start, end, warmup: false, round_trips, lost: 2 };
        assert_eq!(
            line(&interval),
            "    0.0-1.0 s       100 round trips  p50 50.0 µs  p99 99.0 µs  max  100 µs  lost 2"
        );
        let empty = PingPongInterval { warmup: true, round_trips: LatencyHistogram::new(), ..interval };
        assert!(line(&empty).contains("p50       -") && line(&empty).ends_with("(warm-up)"));
    }
}
