//! Checks the intervals of one end against the summary. If they disagree, the summary is used.

use units::{Bytes, Nanos};
use workload::Interval;

use super::{figure::Figure, row::Row};
use crate::series::Series;

/// Tolerated difference, as a fraction. Both values are rounded, and only the summary has an exact time.
const DIFFER: f64 = 0.03;

/// A gap shorter than this fraction of an interval is not a missing row but the end of the test.
const PART: f64 = 0.6;

const ROUNDED: f64 = 0.011;

#[derive(Debug, Clone, Copy)]
pub(super) struct Totals {
    transfer: Figure,
    rate: Figure,
}

impl Totals {
    pub(super) const fn of(row: &Row) -> Self {
        Self { transfer: row.transfer, rate: row.rate }
    }

    /// Scales the bytes of all connections, and if necessary their times, so that the printed totals match the summary.
    /// Changes the printed numbers of intervals only if there is no other way.
    pub(super) fn apply(self, ends: &mut [&mut [Interval]]) {
        for keeps_numbers in [true, true, true, false] {
            let Some((more, longer)) = self.factors(ends) else { return };
            let measured = ends.iter_mut().flat_map(|end| end.iter_mut()).filter(|it| !it.warmup);
            for interval in measured {
                let scaled = scaled(interval, more, longer);
                if !keeps_numbers || printed(&scaled) == printed(interval) {
                    *interval = scaled;
                }
            }
        }
    }

    /// Returns the factors for bytes and times, or `None` if no change is needed or the change would be too large.
    fn factors(self, ends: &[&mut [Interval]]) -> Option<(f64, f64)> {
        let add =
            |sum: Span, it: &Interval| (sum.0 + it.bytes.0 as f64, sum.1 + (it.end - it.start).seconds());
        let totals = ends.iter().map(|end| end.iter().filter(|it| !it.warmup).fold((0.0, 0.0), add));
        let (bytes, seconds) = totals.fold((0.0, 0.0_f64), |sum, end| (sum.0 + end.0, sum.1.max(end.1)));
        if self.transfer.allows(bytes) && self.rate.allows(bytes * 8.0 / seconds) {
            return None;
        }
        let rate = self.rate.nearest(bytes * 8.0 / seconds);
        let wanted = self.transfer.nearest(rate * seconds / 8.0);
        let fits = self.rate.allows(wanted * 8.0 / seconds);
        let (more, longer) = (wanted / bytes, if fits { 1.0 } else { wanted * 8.0 / rate / seconds });
        let is_small = (more - 1.0).abs() <= DIFFER && (longer - 1.0).abs() <= ROUNDED;
        is_small.then_some((more, longer))
    }
}

fn scaled(interval: &Interval, more: f64, longer: f64) -> Interval {
    let scale = |number: u64, factor: f64| (number as f64 * factor).round() as u64;
    let elapsed = interval.end - interval.start;
    let end = interval.start + Nanos(scale(elapsed.0, longer));
    Interval { bytes: Bytes(scale(interval.bytes.0, more)), end, ..*interval }
}

fn printed(interval: &Interval) -> (String, String) {
    (interval.bytes.to_string(), interval.rate().to_string())
}

type Span = (f64, f64);

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Agreement {
    intervals: Span,
    summary: Span,
    lacks_rows: bool,
}

impl Agreement {
    pub(super) fn of(own: &Series, summary: &Interval) -> Option<Self> {
        let usual = usual(own)?;
        let intervals: Span = (own.bytes(), lengths(own).sum());
        let summary: Span = (summary.bytes.0 as f64, (summary.end - summary.start).seconds());
        let lacks_rows = (summary.1 - intervals.1).abs() > PART * usual + 2.0 * ROUNDED;
        Some(Self { intervals, summary, lacks_rows })
    }

    /// Handles a connection that has only a summary, although other connections have intervals.
    pub(super) fn of_summary_alone(summary: &Interval) -> Self {
        let summary = (summary.bytes.0 as f64, (summary.end - summary.start).seconds());
        Self { intervals: (0.0, 0.0), summary, lacks_rows: true }
    }

    pub(super) fn is_broken(&self) -> bool {
        self.lacks_rows || self.differs()
    }

    fn differs(&self) -> bool {
        self.summary.0 > 0.0 && (self.intervals.0 / self.summary.0 - 1.0).abs() > DIFFER
    }

    pub(super) fn note(all: &[Self]) -> Option<String> {
        let totals = |of: fn(&Self) -> Span| {
            let (bytes, seconds) =
                all.iter().map(of).fold((0.0, 0.0_f64), |sum, it| (sum.0 + it.0, sum.1.max(it.1)));
            format!("{} in {seconds:.2} s", Bytes(bytes as u64))
        };
        all.iter().any(Self::is_broken).then(|| {
            format!(
                "the intervals add up to {} but the summary has {}: lines are missing or were changed, so the \
                 summary is used",
                totals(|it| it.intervals),
                totals(|it| it.summary)
            )
        })
    }
}

/// Adds to the last interval the retransmits and late datagrams that only the summary contains.
pub(super) fn add_counts_of_summary(own: &mut [Interval], summary: &Interval) {
    let warms_up = own.iter().any(|interval| interval.warmup);
    let counted =
        own.iter().filter_map(|it| it.tcp).fold(0_u32, |sum, tcp| sum.saturating_add(tcp.retransmits));
    let Some(last) = own.last_mut() else { return };
    if let (Some(datagrams), Some(all)) = (&mut last.datagrams, summary.datagrams) {
        datagrams.reordered = all.reordered;
    }
    if let (Some(tcp), Some(all)) = (&mut last.tcp, summary.tcp.filter(|_| !warms_up)) {
        tcp.retransmits = tcp.retransmits.saturating_add(all.retransmits.saturating_sub(counted));
    }
}

/// Returns the total length of the gaps before and between intervals. Ignores gaps shorter than [`PART`] of an interval.
pub(super) fn gaps(own: &Series) -> Nanos {
    let Some(usual) = usual(own) else { return Nanos(0) };
    let starts = own.intervals().map(|interval| interval.start.seconds());
    let ends = [0.0].into_iter().chain(own.intervals().map(|interval| interval.end.seconds()));
    let gaps: f64 = starts.zip(ends).map(|(start, end)| start - end).filter(|gap| *gap > PART * usual).sum();
    Nanos((gaps * 1e9) as u64)
}

fn usual(own: &Series) -> Option<f64> {
    let mut lengths: Vec<f64> = lengths(own).collect();
    lengths.sort_by(f64::total_cmp);
    Some(lengths.get(lengths.len() / 2)? / f64::from(own.stride()))
}

fn lengths(own: &Series) -> impl Iterator<Item = f64> {
    own.measured().map(|interval| (interval.end - interval.start).seconds())
}
