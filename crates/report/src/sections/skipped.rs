//! Skipped measurements and the reasons.

use super::Source;
use crate::{
    page::{Block, Section, section},
    text::{Text, Tone},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let skipped = &source.findings.skipped;
    let items: Vec<Text> = skipped
        .iter()
        .map(|skipped| {
            Text::of(Tone::Strong, &skipped.result).and(Tone::Plain, format!(": {}", skipped.reason))
        })
        .collect();
    (!items.is_empty()).then(|| section("Skipped", vec![Block::List(items)]))
}
