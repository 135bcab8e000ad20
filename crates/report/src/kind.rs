//! The values that a report shows for a result, a trial and its intervals, by kind of workload.

mod balloon;
mod connect;
mod first_touch;
mod ping_pong;
mod reported;
mod stream;
mod time_series;

use findings::{Distribution, ResultSummary, SingleOutcome, WorkloadSummary};
use workload::{Column, Measurement, WorkloadKind};

use crate::{page::*, phrases, sections::percentiles::TitledDistribution};

pub(crate) use stream::is_of_sender;
pub(crate) use time_series::{TimeSample, TimeSeries};

/// A name and the result's value, if any. All results of a kind have the same names, in the same order.
pub(crate) type Field = (&'static str, Option<String>);

pub(crate) trait KindReport {
    fn column(&self, head: &str) -> Option<String>;

    fn further(&self) -> Vec<Field>;

    fn ranked(&self) -> Vec<Field> {
        Vec::new()
    }

    fn caption(&self) -> Option<&'static str> {
        None
    }
}

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

pub(crate) trait ShownAlone {
    fn lines(&self) -> Vec<(&'static str, Text)>;

    fn is_mean(&self) -> bool;

    fn shape(&self) -> Option<(Vec<TitledDistribution<'_>>, &Distribution)> {
        None
    }
}

pub(crate) const fn alone(outcome: &SingleOutcome) -> &dyn ShownAlone {
    match outcome {
        SingleOutcome::Stream(stream) => stream,
        SingleOutcome::PingPong(latency) => latency,
        SingleOutcome::Connect(connect) => connect,
    }
}

fn odd(name: &'static str, count: Option<u64>) -> Option<(&'static str, Text)> {
    let count = count.filter(|count| *count > 0)?;
    Some((name, phrases::grouped(count).into()))
}

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

/// Returns the measured quantity over time, followed by other quantities recorded with it.
pub(crate) fn series(measurement: &Measurement) -> Vec<TimeSeries> {
    let mut all = match measurement {
        Measurement::Stream(data) => {
            [Some(stream::series(data)), stream::round_trips(data)].into_iter().flatten().collect()
        }
        Measurement::PingPong(data) => {
            [ping_pong::series(data)].into_iter().chain(data.under.as_ref().map(stream::series)).collect()
        }
        Measurement::Connect(data) => vec![connect::series(data)],
        Measurement::FirstTouch(data) => vec![first_touch::series(data)],
        Measurement::Balloon(_) | Measurement::Reported(_) => Vec::new(),
    };
    for series in &mut all {
        // Skip a short last interval, because its rate is not meaningful.
        let usual = series.samples.first().map_or(0.0, TimeSample::length);
        series.samples.retain(|sample| sample.length() >= usual / 2.0);
    }
    all.retain(|series| series.samples.len() >= FEWEST);
    all
}

/// Minimum number of intervals in a table or chart of changes over time.
const FEWEST: usize = 3;

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

pub(crate) fn phrase(all: &[Field], title: &str) -> Option<String> {
    all.iter().filter(|(known, _)| *known == title).find_map(|(_, phrase)| phrase.clone())
}
