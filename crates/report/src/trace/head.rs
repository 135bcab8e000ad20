//! How long was looked, why it ended, and what could not be seen. Must not know any number of a call.

use findings::{PtraceCost, TraceSummary};
use units::significant;

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
    blocks.extend(trace.stopping.as_ref().map(stopping));
    blocks.extend(missing(trace));
    Some(Section { title: None, depth: Depth::Always, blocks })
}

/// That calls were counted by stopping at them, in what part of the time, and at what cost.
fn stopping(stopping: &PtraceCost) -> Block {
    let looked = significant(stopping.looked.seconds(), 3);
    let pairs = phrases::count(u64::from(stopping.pairs), "slice", "slices");
    let pace = stopping.pace.map_or_else(
        || "how much slower it was meanwhile is not known, for it read and wrote too little".to_owned(),
        |pace| {
            format!(
                "it got through {} of the reads and writes that it made in the rests between",
                words::left(&pace)
            )
        },
    );
    let cpu =
        stopping.cpu.map(|cpu| format!(", in {} of the CPU time", words::left(&cpu))).unwrap_or_default();
    let stood = significant(stopping.stood, 2);
    let said = format!(
        "System calls were counted by stopping it at each (ptrace), during {looked} s ({pairs} with a rest after it): {pace}{cpu}. \
         Its threads stood still for that, {stood} of them at any time at least. Times of calls hold these stops; how much of \
         them was running and how much waiting is unknown."
    );
    Block::Paragraph(Text::of(Tone::Doubtful, said))
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
