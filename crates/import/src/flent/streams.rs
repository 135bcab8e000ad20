//! Converts stream series to connections.

use units::{Bytes, Nanos};
use workload::{Direction, EndSeries, Flow, Interval, Transport};

use super::{
    file::File,
    series::{Kind, Series},
};

/// Maximum length of a series, in nanoseconds: 30 years.
const LONGEST: u64 = 1_000_000_000_000_000_000;

/// Start and end, in seconds since 1970.
pub(super) type Span = (f64, f64);

pub(super) fn flows(file: &File) -> (Vec<Flow>, Vec<String>) {
    let mut flows = Vec::new();
    let mut unread = Vec::new();
    for wanted in [Direction::Forward, Direction::Reverse] {
        let of_direction = file.series.iter().filter(|series| direction(series) == Some(wanted));
        let mut id = 0;
        for series in of_direction {
            match flow(id, series, wanted) {
                Some(flow) => {
                    flows.push(flow);
                    id += 1;
                }
                None => unread.push(format!("`{}`", series.name)),
            }
        }
    }
    (flows, unread)
}

pub(super) fn span(file: &File) -> Option<Span> {
    let streams = || file.series.iter().filter(|series| direction(series).is_some());
    let begins = streams().filter_map(|series| Some(series.samples.first()?.at)).min_by(f64::total_cmp)?;
    let end = |series: &Series| series.samples.last().map(|sample| sample.at + sample.lasts.unwrap_or(0.0));
    Some((begins, streams().filter_map(end).max_by(f64::total_cmp)?))
}

fn direction(series: &Series) -> Option<Direction> {
    match series.kind {
        Kind::Stream { direction } => Some(direction),
        _ => None,
    }
}

/// The client provides the samples. For uploads, the server reports a total.
fn flow(id: u32, series: &Series, direction: Direction) -> Option<Flow> {
    let sampled = EndSeries { intervals: intervals(series)?, ..EndSeries::default() };
    let other = match series.received {
        Some((bytes, seconds)) if direction == Direction::Forward => one(bytes, seconds),
        // TCP delivers every byte that it accepts, but UDP may not.
        None if direction == Direction::Forward && series.transport == Some(Transport::Tcp) => {
            let (bytes, elapsed) = (sampled.bytes(), sampled.elapsed());
            EndSeries { intervals: vec![interval(0, elapsed.0, bytes.0)], ..EndSeries::default() }
        }
        _ => EndSeries::default(),
    };
    Some(Flow::of_ends(id, direction, sampled, other))
}

/// Returns the intervals, or `None` if there are none or the time overflows. Each sample lasts for its duration, or
/// until the next sample.
fn intervals(series: &Series) -> Option<Vec<Interval>> {
    let mut intervals: Vec<Interval> = Vec::with_capacity(series.samples.len());
    let next = series.samples.iter().skip(1).map(|sample| Some(sample.at)).chain([None]);
    let mut start: u64 = 0;
    for (sample, next) in series.samples.iter().zip(next) {
        let Some(lasts) = sample.lasts.or_else(|| Some(next? - sample.at)).filter(|lasts| *lasts > 0.0)
        else {
            continue;
        };
        let end = start.saturating_add((lasts * 1e9).round() as u64);
        if end > LONGEST {
            return None;
        }
        let bytes = (sample.value * 1e6 * lasts / 8.0).round() as u64;
        intervals.push(interval(start, end, bytes));
        start = end;
    }
    (!intervals.is_empty()).then_some(intervals)
}

fn one(bytes: f64, seconds: f64) -> EndSeries {
    let known = (0.0..1e18).contains(&bytes) && (1e-3..1e7).contains(&seconds);
    let whole = known.then(|| interval(0, (seconds * 1e9).round() as u64, bytes as u64));
    EndSeries { intervals: whole.into_iter().collect(), ..EndSeries::default() }
}

const fn interval(start: u64, end: u64, bytes: u64) -> Interval {
    Interval {
        start: Nanos(start),
        end: Nanos(end),
        bytes: Bytes(bytes),
        warmup: false,
        tcp: None,
        datagrams: None,
    }
}
