//! The round trips of a file: single ones, and means of many. Must not know streams beyond when they ran.

use units::Nanos;
use workload::{LatencyHistogram, PingPongData, Quantity, ReportedData, ReportedValue};

use super::{
    file::{File, Kind, Sample, Series},
    streams::Span,
};
use crate::{quantity::as_written, round_trips::Intervals};

/// Single round trips, and how many were left out because no stream ran beside them.
pub(super) fn round_trips(series: &Series, span: Option<Span>) -> (PingPongData, u64) {
    let inside: Vec<&Sample> = series.samples.iter().filter(|sample| is_in(sample, span)).collect();
    let outside = series.samples.len() - inside.len();
    let mut all = LatencyHistogram::new();
    let mut intervals = Intervals::default();
    let first = inside.first().map_or(0.0, |sample| sample.at);
    let mut ended = Nanos(0);
    for sample in inside {
        let took = nanos(sample.value);
        ended = Nanos(((sample.at - first) * 1e9) as u64);
        all.record(took);
        intervals.record(ended, took);
    }
    let data = PingPongData {
        round_trips: all.packed(),
        intervals: intervals.finish(ended),
        elapsed: ended,
        ..PingPongData::default()
    };
    (data, outside as u64)
}

/// The mean round trip of each series that has only means: all the time over all the round trips in it.
pub(super) fn means(file: &File, span: Option<Span>) -> Option<ReportedData> {
    let series = file.series.iter().filter(|series| series.kind == Kind::MeanRoundTrips);
    let values: Vec<ReportedValue> = series
        .filter_map(|series| {
            let samples = series.samples.iter().filter(|sample| is_in(sample, span) && sample.value > 0.0);
            let (time, count) = samples.fold((0.0, 0.0), |(time, count), sample| {
                let lasts = sample.lasts.unwrap_or(0.0);
                (time + lasts, count + lasts * 1e3 / sample.value)
            });
            let mean = as_written(time * 1e9 / count);
            let name = format!("mean, {}", series.name);
            mean.is_finite().then_some(ReportedValue { name, quantity: Quantity::Time, value: mean })
        })
        .collect();
    (!values.is_empty()).then_some(ReportedData { values })
}

fn is_in(sample: &Sample, span: Option<Span>) -> bool {
    span.is_none_or(|(begin, end)| sample.at >= begin && sample.at <= end)
}

fn nanos(millis: f64) -> Nanos {
    Nanos((millis * 1e6).round() as u64)
}
