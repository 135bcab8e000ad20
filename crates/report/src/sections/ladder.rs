//! The cost ladder: a chart per workload.

use findings::Ladder;

use super::Source;
use crate::{
    page::{Block, Section, section},
    phrases,
    pictures::layers,
    text::{Text, Tone},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let mut shown: Vec<&str> = Vec::new();
    let (mut blocks, mut others) = (Vec::new(), Vec::new());
    for ladder in &findings.ladders {
        let drawn = [Block::Heading(heading(ladder)), Block::Chart(Box::new(layers::chart(source, ladder)))];
        if shown.contains(&ladder.workload.as_str()) {
            others.extend(drawn);
        } else {
            shown.push(&ladder.workload);
            blocks.extend(drawn);
        }
    }
    if !others.is_empty() {
        blocks.push(Block::Folded { title: "At other settings".into(), blocks: others });
    }
    (!blocks.is_empty()).then(|| section("Cost of each layer", blocks))
}

fn heading(ladder: &Ladder) -> Text {
    let measured = phrases::measured_in(Some(ladder.metric));
    Text::of(Tone::Strong, layers::title(ladder)).and(Tone::Faint, format!(" ({measured})"))
}
