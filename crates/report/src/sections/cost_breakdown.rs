//! The cost breakdown, as one chart per workload.

use findings::CostBreakdown;

use super::Source;
use crate::{page::*, phrases, pictures::layers};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let mut shown: Vec<&str> = Vec::new();
    let (mut blocks, mut others) = (Vec::new(), Vec::new());
    for breakdown in &findings.cost_breakdowns {
        let drawn =
            [Block::Heading(heading(breakdown)), Block::Chart(Box::new(layers::chart(source, breakdown)))];
        if shown.contains(&breakdown.workload.as_str()) {
            others.extend(drawn);
        } else {
            shown.push(&breakdown.workload);
            blocks.extend(drawn);
        }
    }
    if !others.is_empty() {
        blocks.push(Block::Folded { title: "At other settings".into(), blocks: others });
    }
    section_of("Cost of each layer", blocks)
}

fn heading(breakdown: &CostBreakdown) -> Text {
    let measured = phrases::measured_in(Some(breakdown.metric));
    Text::strong(layers::title(breakdown)).and_faint(format!(" ({measured})"))
}
