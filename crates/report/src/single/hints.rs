//! Likely bottlenecks and remedies.

use findings::SingleMeasurement;

use crate::{page::*, sections::verdict};

pub(super) fn build(single: &SingleMeasurement, most: usize) -> Option<Section> {
    let blocks: Vec<Block> = single.hints.iter().take(most).flat_map(verdict::claim).collect();
    section_of("Hints", blocks)
}
