//! Likely bottlenecks and remedies.

use findings::SingleMeasurement;

use crate::{
    page::{Block, Section, section},
    sections::verdict,
};

pub(super) fn build(solo: &SingleMeasurement) -> Option<Section> {
    let blocks: Vec<Block> = solo.hints.iter().flat_map(verdict::claim).collect();
    (!blocks.is_empty()).then(|| section("Hints", blocks))
}
