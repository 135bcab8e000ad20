//! Where the brief form of a report points on to. Must not know what it left out.

use super::Source;
use crate::{
    page::{Block, Depth, Section},
    text::{Text, Tone},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let command = format!("plumb report {} --format markdown", source.findings.run.id);
    let line = Text::of(Tone::Faint, "Cases, percentiles, CPU, environment, method and samples:");
    let blocks = vec![Block::Paragraph(line), Block::Commands(vec![command])];
    Some(Section { title: None, depth: Depth::OnlyBrief, blocks })
}
