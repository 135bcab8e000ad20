//! What a report shows for each workload kind: of a result, of a single trial, and of its intervals.

mod balloon;
mod connect;
mod first_touch;
mod ping_pong;
mod reported;
mod stream;
mod time_series;

use findings::{Distribution, ResultSummary, SingleOutcome, Spread, WorkloadSummary};
use workload::{Column, Measurement, Metric, WorkloadKind};

use crate::{page::Block, phrases, sections::percentiles::TitledDistribution, text::Text};

pub(crate) use stream::is_of_sender;
pub(crate) use time_series::{TimeSample, TimeSeries};

/// A name and the value of a result, if any. Names and order are equal within a kind.
pub(crate) type Field = (&'static str, Option<String>);

/// Presentation of a result, by kind.
pub(crate) trait KindReport {
    /// Its value in the column of a spreadsheet with this head; `None` where it has no such column, or nothing is known.
    fn column(&self, head: &str) -> Option<String>;

    /// Further columns.
    fn further(&self) -> Vec<Field>;

    /// Further columns where paths are ranked.
    fn ranked(&self) -> Vec<Field> {
        Vec::new()
    }

    /// The times that it is judged by.
    fn judged(&self) -> Option<&Distribution> {
        None
    }

    /// Notes on the value.
    fn caption(&self) -> Option<&'static str> {
        None
    }
}

/// The presentation of a result's kind.
pub(crate) const fn of(result: &ResultSummary) -> &dyn KindReport {
    match &result.measured {
        WorkloadSummary::Stream(summary) => summary,
        WorkloadSummary::PingPong(summary) => summary,
        WorkloadSummary::Connect(summary) => summary,
        WorkloadSummary::FirstTouch(summary) => summary,
        WorkloadSummary::Balloon(summary) => summary,
        WorkloadSummary::Reported => &reported::ReportedResult,
    }
}

/// Presentation of a single trial, by kind.
pub(crate) trait ShownAlone {
    /// Metric of its rates or times.
    fn metric(&self) -> Metric;

    /// Its numbers, each with a name.
    fn lines(&self) -> Vec<(&'static str, Text)>;

    /// Whether it is a mean over intervals.
    fn is_mean(&self) -> bool;

    /// How sure the mean is; `None` where there were too few intervals, or it is none.
    fn spread(&self) -> Option<&Spread>;

    /// Its distributions of times, and the one to draw.
    fn shape(&self) -> Option<(Vec<TitledDistribution<'_>>, &Distribution)> {
        None
    }
}

/// The presentation of a single trial's kind.
pub(crate) const fn alone(outcome: &SingleOutcome) -> &dyn ShownAlone {
    match outcome {
        SingleOutcome::Stream(stream) => stream,
        SingleOutcome::PingPong(latency) => latency,
        SingleOutcome::Connect(connect) => connect,
    }
}

/// A counter that should be zero, if it is not.
fn odd(name: &'static str, count: Option<u64>) -> Option<(&'static str, Text)> {
    let count = count.filter(|count| *count > 0)?;
    Some((name, phrases::grouped(count).into()))
}

/// Interval tables of both ends; empty if no intervals were stored.
pub(crate) fn intervals(measurement: &Measurement) -> Vec<Block> {
    match measurement {
        Measurement::Stream(data) => stream::intervals(data),
        Measurement::PingPong(data) => ping_pong::intervals(data),
        Measurement::Connect(data) => connect::intervals(data),
        Measurement::FirstTouch(data) => first_touch::intervals(data),
        Measurement::Balloon(data) => balloon::intervals(data),
        Measurement::Reported(_) => Vec::new(),
    }
}

/// Time series of the trial; `None` for kinds without one.
pub(crate) fn series(measurement: &Measurement) -> Option<TimeSeries> {
    let mut series = match measurement {
        Measurement::Stream(data) => stream::series(data),
        Measurement::PingPong(data) => ping_pong::series(data),
        Measurement::Connect(data) => connect::series(data),
        Measurement::FirstTouch(data) => first_touch::series(data),
        Measurement::Balloon(_) | Measurement::Reported(_) => return None,
    };
    // A short last interval has no meaningful rate.
    let usual = series.samples.first().map_or(0.0, TimeSample::length);
    series.samples.retain(|sample| sample.length() >= usual / 2.0);
    Some(series)
}

/// The heads of all columns that some kind has of a result in a spreadsheet.
pub(crate) fn heads() -> Vec<String> {
    let of_kind = |kind| match kind {
        WorkloadKind::Stream => Column::heads(stream::COLUMNS),
        WorkloadKind::PingPong => Column::heads(ping_pong::COLUMNS),
        WorkloadKind::Connect => Column::heads(connect::COLUMNS),
        WorkloadKind::FirstTouch => Column::heads(first_touch::COLUMNS),
        WorkloadKind::Balloon => Column::heads(balloon::COLUMNS),
    };
    WorkloadKind::ALL.into_iter().flat_map(of_kind).collect()
}

/// Names with at least one value, in order.
pub(crate) fn titles(all: impl Iterator<Item = Vec<Field>>) -> Vec<&'static str> {
    let all: Vec<Field> = all.flatten().collect();
    let mut titles = Vec::new();
    for (title, _) in &all {
        if !titles.contains(title) && phrase(&all, title).is_some() {
            titles.push(*title);
        }
    }
    titles
}

/// Value of a field.
pub(crate) fn phrase(all: &[Field], title: &str) -> Option<String> {
    all.iter().filter(|(known, _)| *known == title).find_map(|(_, phrase)| phrase.clone())
}
