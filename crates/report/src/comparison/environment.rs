//! Shows the differences between two runs' environments.

use findings::{EnvironmentChange, RunComparison};

use crate::page::*;

pub(super) fn build(comparison: &RunComparison) -> Option<Section> {
    let changes = &comparison.environment_changes;
    if changes.is_empty() {
        let same = "No recorded difference in machine or scenario.";
        return Some(section("Environment", vec![Block::Paragraph(same.into())]));
    }
    let important = changes.iter().any(|change| change.important);
    let caption = "! may explain a difference in the results on its own";
    let table = Table {
        columns: ["Differs", "In A", "In B"].map(left).to_vec(),
        rows: changes.iter().map(row).collect(),
        caption: important.then(|| Text::faint(caption)),
    };
    Some(section("Environment", vec![Block::Table(table)]))
}

fn row(change: &EnvironmentChange) -> Vec<Text> {
    let what = Text::strong(softened(&change.property));
    let what = if change.important { what.and_doubtful("\u{a0}!") } else { what };
    vec![what, change.a.as_str().into(), change.b.as_str().into()]
}
