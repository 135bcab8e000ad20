//! The kinds of workloads in a report: what each shows of a cell, of a trial alone and of its intervals.

mod balloon;
mod connect;
mod first_touch;
mod ping_pong;
mod reported;
mod stream;
mod time_series;

use findings::{CellSummary, Distribution, SingleOutcome, Spread, WorkloadSummary};
use workload::{Column, Measurement, Metric, WorkloadKind};

use crate::{page::Block, phrases, sections::percentiles::TitledDistribution, text::Text};

pub(crate) use stream::is_of_sender;
pub(crate) use time_series::{TimeSample, TimeSeries};

/// A name and what a cell has to say under it, if anything: all of a kind name the same, in the same order.
pub(crate) type Field = (&'static str, Option<String>);

/// What a report asks each kind's summary of a cell.
pub(crate) trait KindReport {
    /// Its value in the column of a spreadsheet with this head; `None` where it has no such column, or nothing is known.
    fn column(&self, head: &str) -> Option<String>;

    /// Further columns beside its value.
    fn further(&self) -> Vec<Field>;

    /// Further columns where paths are ranked.
    fn ranked(&self) -> Vec<Field> {
        Vec::new()
    }

    /// The times that it is judged by.
    fn judged(&self) -> Option<&Distribution> {
        None
    }

    /// What has to be known to read its value.
    fn caption(&self) -> Option<&'static str> {
        None
    }
}

/// What its kind shows of a cell.
pub(crate) const fn of(cell: &CellSummary) -> &dyn KindReport {
    match &cell.measured {
        WorkloadSummary::Stream(summary) => summary,
        WorkloadSummary::PingPong(summary) => summary,
        WorkloadSummary::Connect(summary) => summary,
        WorkloadSummary::FirstTouch(summary) => summary,
        WorkloadSummary::Balloon(summary) => summary,
        WorkloadSummary::Reported => &reported::ReportedCell,
    }
}

/// What a report asks each kind of a trial alone.
pub(crate) trait ShownAlone {
    /// What its rates or times are in.
    fn metric(&self) -> Metric;

    /// Its numbers, each with a name.
    fn lines(&self) -> Vec<(&'static str, Text)>;

    /// Whether it is a mean over intervals.
    fn is_mean(&self) -> bool;

    /// How sure the mean is; `None` where there were too few intervals, or it is none.
    fn spread(&self) -> Option<&Spread>;

    /// Its distributions of times, and which of them is drawn.
    fn shape(&self) -> Option<(Vec<TitledDistribution<'_>>, &Distribution)> {
        None
    }
}

/// What its kind shows of a trial alone.
pub(crate) const fn alone(outcome: &SingleOutcome) -> &dyn ShownAlone {
    match outcome {
        SingleOutcome::Stream(stream) => stream,
        SingleOutcome::PingPong(latency) => latency,
        SingleOutcome::Connect(connect) => connect,
    }
}

/// What should not come at all is told where it did.
fn odd(name: &'static str, count: Option<u64>) -> Option<(&'static str, Text)> {
    let count = count.filter(|count| *count > 0)?;
    Some((name, phrases::grouped(count).into()))
}

/// What each end saw from interval to interval; nothing where no intervals were kept.
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

/// What was measured from interval to interval, as numbers; `None` of a kind whose intervals are no series.
pub(crate) fn series(measurement: &Measurement) -> Option<TimeSeries> {
    let mut series = match measurement {
        Measurement::Stream(data) => stream::series(data),
        Measurement::PingPong(data) => ping_pong::series(data),
        Measurement::Connect(data) => connect::series(data),
        Measurement::FirstTouch(data) => first_touch::series(data),
        Measurement::Balloon(_) | Measurement::Reported(_) => return None,
    };
    // What is left over at the end is too short for a rate.
    let usual = series.samples.first().map_or(0.0, TimeSample::length);
    series.samples.retain(|sample| sample.length() >= usual / 2.0);
    Some(series)
}

/// The heads of all columns that some kind has of a cell in a spreadsheet.
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

/// The names under which some of these have something to say, each once, in their order.
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

/// What is said under a name.
pub(crate) fn phrase(all: &[Field], title: &str) -> Option<String> {
    all.iter().filter(|(known, _)| *known == title).find_map(|(_, phrase)| phrase.clone())
}
