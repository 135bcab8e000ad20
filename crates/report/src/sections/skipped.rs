//! Skipped measurements and the reasons.

use super::Source;
use crate::page::*;

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let skipped = &source.findings.skipped;
    let items: Vec<Text> = skipped
        .iter()
        .map(|skipped| Text::strong(&skipped.result).and_plain(format!(": {}", skipped.reason)))
        .collect();
    (!items.is_empty()).then(|| section("Skipped", vec![Block::List(items)]))
}
