//! The intervals of one trial as a series of rates.

use samples::{Trial, WorkloadSource};
use stats::describe;
use units::Nanos;
use workload::Measurement;

use crate::{kind, observations::Observations};

/// Longer series are averaged first, because the analysis may take quadratic time.
const MOST_INTERVALS: usize = 4096;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    pub(crate) of: &'static str,
    pub(crate) length: Nanos,
    pub(crate) rates: Vec<f64>,
}

pub(crate) fn of_trial(result: &Observations<'_>, trial: &Trial) -> Series {
    of(&trial.measurement, asked(&result.record.sent))
}

/// Drops intervals shorter than half the requested or usual length, because the rate of a short interval depends more
/// on where it was cut than on the path.
pub(crate) fn of(measurement: &Measurement, asked: Option<Nanos>) -> Series {
    coarser(kind::of(measurement).series(asked))
}

fn coarser(mut series: Series) -> Series {
    while series.rates.len() > MOST_INTERVALS {
        series.rates = series.rates.chunks_exact(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect();
        series.length = Nanos(series.length.0 * 2);
    }
    series
}

pub(crate) fn asked(sent: &WorkloadSource) -> Option<Nanos> {
    sent.load().map(|load| load.kind().interval())
}

pub(crate) fn usual(lengths: impl Iterator<Item = Nanos>) -> Nanos {
    let lengths: Vec<f64> = lengths.map(|length| length.0 as f64).collect();
    Nanos(describe::median(&lengths).unwrap_or(0.0).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::stream_at;

    #[test]
    fn uses_default_interval_length_if_none_was_requested() {
        let Measurement::Stream(mut data) = stream_at(&[9e9, 1e9, 2e9, 3e9, 4e9]) else { unreachable!() };
        let last = data.flows[0].receiver.intervals.last_mut().expect("it has five");
        last.end = Nanos(last.start.0 + 1000);
        let series = of(&Measurement::Stream(data), None);
        assert_eq!((series.of, series.length, series.rates.len()), ("receiver", Nanos::from_millis(250), 3));
    }

    #[test]
    fn averages_long_series() {
        let long: Vec<f64> = (0..=40_000).map(|index| if index < 20_000 { 1e9 } else { 2e9 }).collect();
        let series = of(&stream_at(&long), None);
        assert!(series.rates.len() <= MOST_INTERVALS, "{}", series.rates.len());
        assert_eq!(series.length, Nanos::from_millis(250 * 16));
        let shifts = crate::steadiness::shifts(&series);
        assert_eq!(shifts.len(), 1, "{shifts:?}");
        assert!((shifts[0].at.seconds() - 5_000.0).abs() < 10.0, "{shifts:?}");
    }

    #[test]
    fn uses_sender_intervals_if_receiver_reported_only_a_total() {
        let Measurement::Stream(mut data) = stream_at(&[9e9, 1e9, 2e9, 3e9]) else { unreachable!() };
        data.flows[0].receiver.intervals.truncate(1);
        let series = of(&Measurement::Stream(data), None);
        assert_eq!((series.of, series.rates), ("sender", vec![1e9, 2e9, 3e9]));
    }
}
