//! The environments of two runs, where they differ.

use findings::SurroundingChange;

use super::Source;
use crate::{
    page::{Block, Section, Table, left, section},
    text::{Text, Tone, softened},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let changes = &source.contrast.surroundings;
    if changes.is_empty() {
        let same = "No recorded difference in machine or scenario.";
        return Some(section("Environment", vec![Block::Paragraph(same.into())]));
    }
    let weighty = changes.iter().any(|change| change.weighty);
    let caption = "! may explain a difference in the results on its own";
    let table = Table {
        columns: ["Differs", "In A", "In B"].map(left).to_vec(),
        rows: changes.iter().map(row).collect(),
        caption: weighty.then(|| Text::of(Tone::Faint, caption)),
    };
    Some(section("Environment", vec![Block::Table(table)]))
}

fn row(change: &SurroundingChange) -> Vec<Text> {
    let what = Text::of(Tone::Strong, softened(&change.what));
    let what = if change.weighty { what.and(Tone::Doubtful, "\u{a0}!") } else { what };
    vec![what, change.a.as_str().into(), change.b.as_str().into()]
}
