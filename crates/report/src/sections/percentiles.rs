//! Distributions side by side, a percentile a row.

use findings::Distribution;
use units::Nanos;

use crate::{
    page::{Block, Table, left, right},
    text::{Text, Tone},
};

/// Distributions per table.
const ABREAST: usize = 5;

/// A distribution and its title.
pub(crate) type TitledDistribution<'a> = (String, &'a Distribution);

pub(crate) fn tables(named: &[TitledDistribution<'_>]) -> Vec<Block> {
    named.chunks(ABREAST).map(|named| Block::Table(table(named))).collect()
}

fn table(named: &[TitledDistribution<'_>]) -> Table {
    let mut columns = vec![left("Percentile")];
    columns.extend(named.iter().map(|(name, _)| right(name)));
    let across = |name: String, time: &dyn Fn(&Distribution) -> Option<Nanos>| {
        let times =
            named.iter().map(|(_, times)| time(times).map_or("-".into(), |time| time.to_string().into()));
        [Text::of(Tone::Strong, name)].into_iter().chain(times).collect::<Vec<Text>>()
    };
    let shares = named.first().map(|(_, times)| times.percentiles.as_slice()).unwrap_or_default();
    let mut rows = vec![across("Min".to_owned(), &|times| Some(times.min))];
    rows.extend(shares.iter().map(|(share, _)| across(self::name(*share), &|times| times.at(*share))));
    rows.push(across("Max".to_owned(), &|times| Some(times.max)));
    Table { columns, rows, caption: None }
}

/// `99.9th`, `50th (median)`.
fn name(share: f64) -> String {
    let percent = (share * 1e5).round() / 1e3;
    if (percent - 50.0).abs() < 1e-9 { "50th (median)".to_owned() } else { format!("{percent}th") }
}
