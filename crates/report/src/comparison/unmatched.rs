//! Lists results that only one of the two runs has.

use findings::RunComparison;

use super::first_of;
use crate::page::*;

const NAMED: usize = 6;

pub(super) fn build(comparison: &RunComparison) -> Option<Section> {
    let items: Vec<Text> = [("A", &comparison.only_a), ("B", &comparison.only_b)]
        .into_iter()
        .filter(|(_, results)| !results.is_empty())
        .map(|(run, results)| Text::strong(format!("Only {run}: ")).and_plain(first_of(results, NAMED, ", ")))
        .collect();
    (!items.is_empty()).then(|| section("In one run only", vec![Block::List(items)]))
}
