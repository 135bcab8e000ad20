//! Counted instructions by group of functions.

use findings::{InstructionGroup, ResultSummary};
use units::{Share, significant};
use workload::Metric;

use super::Source;
use crate::{page::*, quantity::Scale};

const CAPTION: &str = "Executed instructions of the kernel and all programs, from the end of the warm-up to the end \
     of the measurement, on one emulated CPU.";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let mut blocks = Vec::new();
    for result in source.findings.results.iter().filter(|result| !result.instructions.is_empty()) {
        blocks.push(Block::Heading(Text::strong(result.label.as_str())));
        blocks.push(Block::Table(table(result)));
    }
    if blocks.is_empty() {
        return None;
    }
    blocks.push(Block::Paragraph(Text::faint(CAPTION)));
    Some(section("Instructions", blocks))
}

fn table(result: &ResultSummary) -> Table {
    let columns = vec![left("Part"), right(result.metric.title()), right("Share"), left("Largest functions")];
    let rows = result.instructions.iter().map(|group| row(result.metric, group)).collect();
    Table { columns, rows, caption: None }
}

fn row(metric: Metric, group: &InstructionGroup) -> Vec<Text> {
    let number = |value: f64| Scale::of(metric, value).quantity(value);
    let functions: Vec<String> = group
        .functions
        .iter()
        .map(|it| format!("{} {}", it.function, significant(100.0 * it.per_work / group.per_work, 2) + " %"))
        .collect();
    vec![
        group.name.as_str().into(),
        number(group.per_work).into(),
        Share(group.share).to_string().into(),
        Text::faint(functions.join(", ")),
    ]
}
