//! The progress line of a ping-pong test.

use ::workload::PingPongInterval;

/// The times shown are for full round trips.
pub(crate) fn line(interval: &PingPongInterval) -> String {
    let time = format!("{:.1}-{:.1} s", interval.start.seconds(), interval.end.seconds());
    let trips = &interval.round_trips;
    let at = |share: f64| trips.quantile(share).map_or_else(|| "-".to_owned(), |time| time.to_string());
    let longest = trips.max().map_or_else(|| "-".to_owned(), |time| time.to_string());
    let warmup = if interval.warmup { "  (warm-up)" } else { "" };
    format!(
        "{time:>13}  {:>8} round trips  p50 {:>7}  p99 {:>7}  max {longest:>7}  lost {}{warmup}",
        trips.count(),
        at(0.5),
        at(0.99),
        interval.lost
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::workload::LatencyHistogram;
    use units::Nanos;

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
