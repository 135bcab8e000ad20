//! A latency histogram with logarithmic bins, the median and the tail.

use findings::{Distribution, ResultSummary};
use workload::Metric;

use super::{columns::number, percentiles};
use crate::{
    chart::{Mark, *},
    phrases,
    sections::{Source, percentiles::TitledDistribution},
    text::GLUE,
};

pub(super) const KIND: &str = "histogram";

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    charts(source, |_| true)
}

pub(crate) fn charts(source: &Source<'_>, wanted: impl Fn(&ResultSummary) -> bool) -> Vec<Chart> {
    let results = source.findings.results.iter().filter(|result| wanted(result));
    results.flat_map(percentiles::timed).filter_map(|(result, named)| chart(result, &named)).collect()
}

fn chart(result: &ResultSummary, named: &TitledDistribution<'_>) -> Option<Chart> {
    // No median, because the median over all trials may differ from the result's value.
    of_times(format!("{}: latency of {}", result.workload, named.0), Some(&result.id), named, &[0.99])
}

pub(crate) fn of_times(
    title: String,
    result: Option<&String>,
    (name, times): &TitledDistribution<'_>,
    marked: &[f64],
) -> Option<Chart> {
    // The last bucket contains everything above the 99.9th percentile, so its width is not meaningful.
    let (beyond, shape) = match times.buckets.as_slice() {
        [only] => (0, std::slice::from_ref(only)),
        [shape @ .., beyond] => (beyond.count, shape),
        [] => return None,
    };
    let (first, last) = (shape.first()?, shape.last()?);
    let mut points: Vec<(f64, f64)> =
        shape.iter().map(|bucket| (bucket.from.0.max(1) as f64, bucket.share)).collect();
    points.push((last.to.0 as f64, 0.0));
    let ends = [first.from.0.max(1) as f64, last.to.0 as f64];
    let highest = shape.iter().map(|bucket| bucket.share).fold(0.0, f64::max);
    let marks = marked.iter().filter_map(|share| percentiles::marked(times, *share));
    let mut data = Data::new(["result", "distribution", "from_ns", "to_ns", "count", "share"]);
    for bucket in &times.buckets {
        let [from, to, count] = [bucket.from.0, bucket.to.0, bucket.count].map(|it| Some(it.to_string()));
        data.push([result.cloned(), Some(name.clone()), from, to, count, number(Some(bucket.share))]);
    }
    let rest = if beyond > 0 {
        format!("; beyond it {} up to {}", phrases::count_of(beyond, "more", "more"), times.max)
            .replace(GLUE, " ")
    } else {
        String::new()
    };
    let plot = Plot {
        x: Axis {
            title: format!("latency{rest}"),
            scale: Scale::Log { low: ends[0], high: ends[1].max(ends[0] * 1.01) },
            ticks: Ticks::Quantity(Metric::RoundTrip),
        },
        y: Axis {
            title: "share of all".to_owned(),
            scale: Scale::from_zero([highest]),
            ticks: Ticks::Percent,
        },
        lines: vec![Line { number: 0, kind: LineKind::Bars, points, intervals: Vec::new() }],
        marks: marks.map(|(at, text)| Mark { at, text }).collect(),
        stretches: Vec::new(),
        spots: Vec::new(),
        keys: Vec::new(),
    };
    Some(Chart {
        kind: KIND,
        title,
        about: about(name, times),
        drawing: Drawing::Plots(vec![plot]),
        data,
        plain: None,
    })
}

fn about(name: &str, times: &Distribution) -> String {
    let within = times.at(0.99).map(|time| format!(", 99 % within {time}")).unwrap_or_default();
    format!("{name}: {} times from {} to {}{within}.", times.count, times.min, times.max).replace(GLUE, " ")
}
