//! Imported logs and the parts that were not recognized.

use samples::ImportedFile;

use super::Source;
use crate::{page::*, phrases};

const OPEN: usize = 6;

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let imported = source.findings.run.origin.imported()?;
    let mut blocks = vec![Block::List(imported.files.iter().map(file_line).collect())];
    let notes: Vec<Text> = imported.notes.iter().map(|note| note.as_str().into()).collect();
    let (open, folded) = notes.split_at(OPEN.min(notes.len()));
    if !open.is_empty() {
        let phrase = if folded.is_empty() {
            "Assumptions, and unread or ignored input:".to_owned()
        } else {
            format!("Assumptions, and unread or ignored input; the first {OPEN} of {} notes:", notes.len())
        };
        blocks.extend([Block::Paragraph(phrase.into()), Block::List(open.to_vec())]);
    }
    if !folded.is_empty() {
        let more = phrases::count(folded.len(), "more note");
        blocks.push(Block::Folded { title: more.into(), blocks: vec![Block::List(folded.to_vec())] });
    }
    Some(section("Imported from", blocks))
}

fn file_line(file: &ImportedFile) -> Text {
    let formats = file.formats.join(", ");
    let lines = phrases::count(file.lines, "line");
    let digest: String = file.digest.chars().take(12).collect();
    Text::strong(&file.name)
        .and_plain(format!(": {lines}, {formats}"))
        .and_faint(format!("; SHA-256 {digest}…"))
}
