//! Lists results that only one of the runs has.

use findings::RunComparison;

use crate::{
    page::{Block, Section, section},
    text::{Text, Tone},
};

const NAMED: usize = 6;

pub(super) fn build(comparison: &RunComparison) -> Option<Section> {
    let items: Vec<Text> = [("A", &comparison.only_a), ("B", &comparison.only_b)]
        .into_iter()
        .filter(|(_, results)| !results.is_empty())
        .map(|(run, results)| {
            Text::of(Tone::Strong, format!("Only {run}: ")).and(Tone::Plain, names(results))
        })
        .collect();
    (!items.is_empty()).then(|| section("In one run only", vec![Block::List(items)]))
}

fn names(results: &[String]) -> String {
    let named = results.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match results.len().checked_sub(NAMED).filter(|more| *more > 0) {
        Some(more) => format!("{named} and {more} more"),
        None => named,
    }
}
