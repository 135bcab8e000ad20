//! Likely bottlenecks and remedies.

use findings::SingleMeasurement;

use crate::{
    page::{Block, Section, section},
    sections::verdict,
};

pub(super) fn build(single: &SingleMeasurement) -> Option<Section> {
    let blocks: Vec<Block> = single.hints.iter().flat_map(verdict::claim).collect();
    (!blocks.is_empty()).then(|| section("Hints", blocks))
}
