//! Cells that only one of the runs has.

use super::Source;
use crate::{
    page::{Block, Section, section},
    text::{Text, Tone},
};

/// Maximum number of results listed by name.
const NAMED: usize = 6;

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let contrast = source.contrast;
    let items: Vec<Text> = [("A", &contrast.only_a), ("B", &contrast.only_b)]
        .into_iter()
        .filter(|(_, cells)| !cells.is_empty())
        .map(|(run, cells)| Text::of(Tone::Strong, format!("Only {run}: ")).and(Tone::Plain, names(cells)))
        .collect();
    (!items.is_empty()).then(|| section("In one run only", vec![Block::List(items)]))
}

fn names(cells: &[String]) -> String {
    let named = cells.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match cells.len().checked_sub(NAMED).filter(|more| *more > 0) {
        Some(more) => format!("{named} and {more} more"),
        None => named,
    }
}
