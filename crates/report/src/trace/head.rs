//! How long was looked, why it ended, and what could not be seen. Must not know any number of a call.

use findings::TraceSummary;

use super::{Source, words};
use crate::{
    page::{Block, Depth, Section},
    phrases,
    text::{Text, Tone},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let trace = source.trace;
    let mut blocks = vec![Block::Paragraph(Text::of(Tone::Faint, words::length(trace)))];
    blocks.extend(words::end(trace).map(|end| Block::Paragraph(Text::of(Tone::Strong, end))));
    blocks.extend(missing(trace));
    Some(Section { title: None, depth: Depth::Always, blocks })
}

/// What was not seen, each once.
pub(super) fn missing(trace: &TraceSummary) -> Vec<Block> {
    let probes = trace.missing.iter().map(|missing| {
        let said = format!("Without the probe {}: {}.", missing.probe.word(), missing.because);
        Block::Paragraph(Text::of(Tone::Doubtful, said))
    });
    let overflowed = trace.overflowed.iter().filter(|overflow| overflow.events > 0).map(|overflow| {
        let events = phrases::count(overflow.events, "event", "events");
        let probe = overflow.probe.word();
        let said =
            format!("The probe {probe} had no room to count {events}: its numbers are too small by that.");
        Block::Paragraph(Text::of(Tone::Bad, said))
    });
    probes.chain(overflowed).collect()
}
