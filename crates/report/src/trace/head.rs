//! A trace's duration, why it ended, and the data that it could not record.

use findings::{PtraceCost, TraceSummary};
use units::significant;

use super::{Source, words};
use crate::{page::*, phrases};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let trace = source.trace;
    let mut blocks = vec![Block::Paragraph(Text::faint(words::length(trace)))];
    blocks.extend(words::end(trace).map(|end| Block::Paragraph(Text::strong(end))));
    blocks.extend(trace.ptrace.as_ref().map(ptrace));
    blocks.extend(missing(trace));
    Some(Section { title: None, depth: Depth::Always, blocks })
}

fn ptrace(ptrace: &PtraceCost) -> Block {
    let counted = significant(ptrace.counted.seconds(), 3);
    let pairs = phrases::count(ptrace.pairs, "slice");
    let pace = ptrace.pace.map_or_else(
        || "its slowdown is unknown because it did too few reads and writes".to_owned(),
        |pace| format!("its rate of reads and writes was {} of that in the pauses", words::left(&pace)),
    );
    let cpu = ptrace
        .cpu
        .map(|cpu| format!(", and its CPU use was {} of that in the pauses", words::left(&cpu)))
        .unwrap_or_default();
    let stopped = significant(ptrace.stopped, 2);
    let phrase = format!(
        "System calls were counted by stopping the process at each one (ptrace) for {counted} s ({pairs}, each \
         followed by a pause): {pace}{cpu}. On average, at least {stopped} of its threads were stopped. Call times \
         include these stops; the split into running and waiting is unknown."
    );
    Block::Paragraph(Text::doubtful(phrase))
}

pub(super) fn missing(trace: &TraceSummary) -> Vec<Block> {
    let probes = trace.missing.iter().map(|missing| {
        let phrase = format!("Probe {} not available: {}.", missing.probe.word(), missing.reason);
        Block::Paragraph(Text::doubtful(phrase))
    });
    let overflowed = trace.overflowed.iter().filter(|overflow| overflow.events > 0).map(|overflow| {
        let events = phrases::count(overflow.events, "event");
        let probe = overflow.probe.word();
        let phrase = format!("The probe {probe} ran out of space for {events}, so its numbers are too low.");
        Block::Paragraph(Text::bad(phrase))
    });
    probes.chain(overflowed).collect()
}
