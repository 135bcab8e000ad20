//! How it was measured, in a few sentences. Must not know what came of it.

use findings::{Findings, NoiseFloor};
use units::Share;

use super::Source;
use crate::{
    page::{Block, Section, section},
    phrases,
    text::Text,
};

const IMPORTED: &str = "The numbers are those of other tools' logs. In which order and how long after one another they were \
                        measured is not known, so that a drift of the machines may look like a difference; nor is there \
                        a noise floor.";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let mut blocks = vec![Block::Paragraph(order(findings)), Block::Paragraph(numbers())];
    if !findings.noise.is_empty() {
        blocks.push(Block::List(findings.noise.iter().map(noise).collect()));
    }
    Some(section("Method", blocks))
}

fn order(findings: &Findings) -> Text {
    let run = &findings.run;
    if run.origin.imported().is_some() {
        return IMPORTED.into();
    }
    let times = phrases::count(u64::from(run.blocks), "time", "times");
    let made = format!("seed {}, {} of {} trials made", run.seed, run.made, run.planned);
    let order = if run.design.is_adaptive() {
        format!(
            "Each cell could be measured up to {times}, in randomised blocks; after the first ones a block holds the \
             cells that still needed trials, so that cells of one block are compared under one drift of the machine \
             ({made})."
        )
    } else {
        format!(
            "Each cell was planned to be measured {times}, in randomised blocks that hold every cell once, so that a \
             drift of the machine falls on all alike ({made})."
        )
    };
    let again = "The baseline was measured once more in each block: what it differs from itself by is the \
                 noise floor.";
    if findings.noise.is_empty() { order.into() } else { format!("{order} {again}").into() }
}

fn numbers() -> Text {
    "Values are medians over the trials, the warm-up left out. The brackets hold an interval for the median, \
     or for the ratio of what was measured in the same blocks, and the confidence that this number of trials \
     really attains, which may be less than 95 %. Of such a ratio, blocks that were disturbed weigh little. A difference smaller than the noise floor is called none; \
     one whose interval does not settle it is called unclear."
        .into()
}

fn noise(noise: &NoiseFloor) -> Text {
    format!(
        "{}: noise floor {}; the baseline against itself is {}, from {}.",
        noise.workload,
        Share(noise.floor),
        Share(noise.ratio),
        phrases::count(u64::from(noise.pairs), "pair of trials", "pairs of trials")
    )
    .into()
}
