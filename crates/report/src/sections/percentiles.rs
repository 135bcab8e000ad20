//! Distributions side by side, with one percentile per row.

use findings::{Basis, Distribution, Percentile};
use units::Nanos;
use workload::Metric;

use crate::{page::*, quantity::Scale};

const ABREAST: usize = 5;
const ABREAST_WITH_INTERVALS: usize = 3;
const INTERVALS: &str = "In parentheses: the 95 % interval. It treats each trial as a unit, because messages within a trial \
     may depend on each other.";

pub(crate) type TitledDistribution<'a> = (String, &'a Distribution);

pub(crate) fn tables(named: &[TitledDistribution<'_>]) -> Vec<Block> {
    side_by_side(named, "Percentile", |_| true)
}

/// Percentiles across the round trips of all trials. Omits the median: it would differ from the result's value, which
/// is computed from each trial's median.
pub(crate) fn pooled_tables(named: &[TitledDistribution<'_>]) -> Vec<Block> {
    side_by_side(named, "All round trips pooled", |share| share != 0.5)
}

fn side_by_side(named: &[TitledDistribution<'_>], first: &str, shown: fn(f64) -> bool) -> Vec<Block> {
    let has_intervals = named.iter().any(|(_, times)| times.basis == Basis::Trials);
    let abreast = if has_intervals { ABREAST_WITH_INTERVALS } else { ABREAST };
    let mut tables: Vec<Table> =
        named.chunks(abreast).map(|named| table(named, left(first), shown)).collect();
    if let Some(last) = tables.last_mut().filter(|_| has_intervals) {
        last.caption = Some(Text::faint(INTERVALS));
    }
    tables.into_iter().map(Block::Table).collect()
}

fn table(named: &[TitledDistribution<'_>], first: Column, shown: fn(f64) -> bool) -> Table {
    let mut columns = vec![first];
    columns.extend(named.iter().map(|(name, _)| right(name)));
    let across = |name: String, time: &dyn Fn(&Distribution) -> Option<String>| {
        let times = named.iter().map(|(_, times)| time(times).map_or("-".into(), Text::from));
        [Text::strong(name)].into_iter().chain(times).collect::<Vec<Text>>()
    };
    let shares = named.first().map(|(_, times)| times.percentiles.as_slice()).unwrap_or_default();
    let mut rows = vec![across("Min".to_owned(), &|times| Some(times.min.to_string()))];
    for share in shares.iter().map(|it| it.share).filter(|share| shown(*share)) {
        rows.push(across(name(share), &|times| Some(phrase(times.percentile(share)?, times.basis))));
    }
    rows.push(across("Max".to_owned(), &|times| Some(times.max.to_string())));
    Table { columns, rows, caption: None }
}

/// Formats e.g. `79.1 µs (75.0 to 84.2)`, or `79.1 µs (from 75.0)` if there are too few messages for an upper bound.
fn phrase(it: &Percentile, basis: Basis) -> String {
    if basis == Basis::Intervals {
        return it.time.to_string();
    }
    let number = |time: Nanos| Scale::of(Metric::RoundTrip, it.time.0 as f64).number(time.0 as f64);
    let range = match (it.low, it.high) {
        (Some(low), Some(high)) => format!(" ({} to {})", number(low), number(high)),
        (Some(low), None) => format!(" (from {})", number(low)),
        (None, Some(high)) => format!(" (up to {})", number(high)),
        (None, None) => String::new(),
    };
    format!("{}{}", it.time, glued(&range))
}

fn name(share: f64) -> String {
    let percent = (share * 1e5).round() / 1e3;
    if (percent - 50.0).abs() < 1e-9 { "50th (median)".to_owned() } else { format!("{percent}th") }
}
