//! What is likely to limit, and what to do about it. Must not know how a hint was reached.

use findings::Solo;

use crate::{
    page::{Block, Section, section},
    sections::verdict,
};

pub(super) fn build(solo: &Solo) -> Option<Section> {
    let blocks: Vec<Block> = solo.hints.iter().flat_map(verdict::claim).collect();
    (!blocks.is_empty()).then(|| section("Hints", blocks))
}
