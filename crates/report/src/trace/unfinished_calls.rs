//! System calls still in progress. No count includes them.

use super::{Source, calls::and_more};
use crate::{page::*, phrases, sections::unfinished_calls};

const CAPTION: &str = "Calls that started during the trace and did not end; they are in no other table.";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let calls = &source.trace.under_way;
    let (shown, folded) = calls.split_at(source.top.min(calls.len()));
    if shown.is_empty() {
        return None;
    }
    let caption = Some(Text::faint(CAPTION));
    let mut blocks = vec![Block::Table(Table { caption, ..unfinished_calls::table(shown) })];
    if !folded.is_empty() {
        let more = phrases::count(folded.len(), "more call");
        blocks.push(Block::Paragraph(Text::faint(and_more(&more, calls.len()))));
    }
    Some(section("Unfinished calls", blocks))
}
