//! Describes the method.

use findings::{Findings, NoiseFloor};
use units::Share;

use super::Source;
use crate::{page::*, phrases};

const IMPORTED: &str = "The numbers come from logs of other tools. Their order and timing are unknown, so drift of \
     the machines may look like a difference, and there is no noise floor.";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let mut blocks = vec![Block::Paragraph(order(findings)), Block::Paragraph(numbers())];
    blocks.extend(together(findings).map(Block::Paragraph));
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
    let times = phrases::count(run.blocks, "time");
    let completed = format!("seed {}, {} of {} trials run", run.seed, run.completed, run.planned);
    let order = if run.design.is_adaptive() {
        format!(
            "Each result was measured up to {times}, in randomised blocks. After the first blocks, a block contains \
             only results that still need trials. Results in one block see the same drift of the machine ({completed})."
        )
    } else {
        format!(
            "Each result was to be measured {times}, in randomised blocks with one trial of each, so that drift of \
             the machine affects all results equally ({completed})."
        )
    };
    let again = "Each block has two trials of the baseline. Their difference gives the noise floor.";
    if findings.noise.is_empty() { order.into() } else { format!("{order} {again}").into() }
}

fn numbers() -> Text {
    "Values are robust averages across the trials, without the warm-up. Disturbed blocks have little weight. \
     Changes and ratios follow from the values. Brackets contain the interval and its confidence. A difference \
     smaller than the noise floor is treated as none. If its interval allows both a difference and none, the \
     verdict is unclear."
        .into()
}

fn together(findings: &Findings) -> Option<Text> {
    let are_shown = findings
        .results
        .iter()
        .filter_map(|result| result.against_baseline)
        .any(|it| it.ratio_interval.is_some());
    (findings.comparisons > 1 && are_shown).then(|| {
        format!(
            "The intervals of all changes are widened for the {} comparisons of this run (Sidak), so that all of them \
             hold together with the stated confidence.",
            findings.comparisons
        )
        .into()
    })
}

fn noise(noise: &NoiseFloor) -> Text {
    format!(
        "{}: noise floor {}; the baseline vs itself is {}, from {}.",
        noise.workload,
        phrases::either_way(noise.floor),
        Share(noise.ratio),
        phrases::count_of(noise.pairs, "pair of trials", "pairs of trials")
    )
    .into()
}
