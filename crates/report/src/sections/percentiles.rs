//! Distributions side by side, with one percentile per row.

use findings::Distribution;
use units::Nanos;

use crate::{
    page::{Block, Column, Table, left, right},
    text::{Text, Tone},
};

const ABREAST: usize = 5;

pub(crate) type TitledDistribution<'a> = (String, &'a Distribution);

pub(crate) fn tables(named: &[TitledDistribution<'_>]) -> Vec<Block> {
    named.chunks(ABREAST).map(|named| Block::Table(table(named, left("Percentile"), |_| true))).collect()
}

/// Percentiles of all trials' round trips pooled together. Omits the median, which would differ from the result's
/// value: that is computed from each trial's median.
pub(crate) fn pooled_tables(named: &[TitledDistribution<'_>]) -> Vec<Block> {
    let column = || left("All round trips pooled");
    named.chunks(ABREAST).map(|named| Block::Table(table(named, column(), |share| share != 0.5))).collect()
}

fn table(named: &[TitledDistribution<'_>], first: Column, shown: fn(f64) -> bool) -> Table {
    let mut columns = vec![first];
    columns.extend(named.iter().map(|(name, _)| right(name)));
    let across = |name: String, time: &dyn Fn(&Distribution) -> Option<Nanos>| {
        let times =
            named.iter().map(|(_, times)| time(times).map_or("-".into(), |time| time.to_string().into()));
        [Text::of(Tone::Strong, name)].into_iter().chain(times).collect::<Vec<Text>>()
    };
    let shares = named.first().map(|(_, times)| times.percentiles.as_slice()).unwrap_or_default();
    let mut rows = vec![across("Min".to_owned(), &|times| Some(times.min))];
    let shares = shares.iter().filter(|(share, _)| shown(*share));
    rows.extend(shares.map(|(share, _)| across(self::name(*share), &|times| times.at(*share))));
    rows.push(across("Max".to_owned(), &|times| Some(times.max)));
    Table { columns, rows, caption: None }
}

fn name(share: f64) -> String {
    let percent = (share * 1e5).round() / 1e3;
    if (percent - 50.0).abs() < 1e-9 { "50th (median)".to_owned() } else { format!("{percent}th") }
}
