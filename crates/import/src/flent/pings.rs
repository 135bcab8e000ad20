//! Converts round-trip series, which contain single round trips or means.

use units::Nanos;
use workload::{LatencyHistogram, PingPongData, Quantity, ReportedData, ReportedValue};

use super::{
    file::File,
    series::{Kind, Sample, Series},
    streams::Span,
};
use crate::{quantity::as_written, round_trips::Intervals};

/// Returns the single round trips measured while streams ran, and the number of other round trips.
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

/// Averages each series of mean round trips, grouped by method. netperf also reports durations, so its means are
/// weighted by the number of round trips. Other means are not weighted.
pub(super) fn means(file: &File, span: Option<Span>) -> Vec<(&'static str, ReportedData)> {
    let of_method = |timed: bool| {
        let series = file.series.iter().filter(|series| series.kind == Kind::MeanRoundTrips);
        let series = series.filter(|series| is_timed(series) == timed);
        let values: Vec<ReportedValue> = series.filter_map(|series| mean(series, span, timed)).collect();
        let what = if timed { "round trips by netperf" } else { "times of requests" };
        (!values.is_empty()).then_some((what, ReportedData { values }))
    };
    [of_method(true), of_method(false)].into_iter().flatten().collect()
}

fn is_timed(series: &Series) -> bool {
    series.samples.iter().any(|sample| sample.lasts.is_some())
}

fn mean(series: &Series, span: Option<Span>, timed: bool) -> Option<ReportedValue> {
    let samples = series.samples.iter().filter(|sample| is_in(sample, span) && sample.value > 0.0);
    let (time, count) = samples.fold((0.0, 0.0), |(time, count), sample| {
        let (lasts, round_trips) = if timed {
            let lasts = sample.lasts.unwrap_or(0.0);
            (lasts, lasts * 1e3 / sample.value)
        } else {
            (sample.value / 1e3, 1.0)
        };
        (time + lasts, count + round_trips)
    });
    let mean = as_written(time * 1e9 / count);
    let name = format!("mean, {}", series.name);
    mean.is_finite().then_some(ReportedValue { name, quantity: Quantity::Time, value: mean })
}

fn is_in(sample: &Sample, span: Option<Span>) -> bool {
    span.is_none_or(|(begin, end)| sample.at >= begin && sample.at <= end)
}

fn nanos(millis: f64) -> Nanos {
    Nanos((millis * 1e6).round() as u64)
}
