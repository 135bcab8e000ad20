//! Moves the first chart that repeats a table into the summary, so that pages start with the answer and a chart.

use crate::page::{Page, *};

pub(super) fn with_chart(page: &Page) -> Page {
    let mut page = page.clone();
    let Some((summary, others)) = page.sections.split_first_mut() else { return page };
    let (summary, others) = match others.split_first_mut() {
        Some((second, others)) if summary.title.is_none() => (second, others),
        _ => (summary, others),
    };
    // If the next section starts with a chart, a chart already follows the summary.
    let is_next = others.first().is_some_and(|it| is_shown(it) && it.blocks.iter().take(2).any(is_chart));
    if is_next {
        return page;
    }
    let found = others.iter_mut().filter(|it| is_shown(it)).find_map(|section| {
        let place = section.blocks.iter().position(is_chart)?;
        Some((section, place))
    });
    if let Some((section, place)) = found
        && matches!(section.blocks.get(place + 1), Some(Block::Table(_) | Block::Results { .. }))
        && let Block::Chart(chart) = section.blocks.remove(place)
    {
        summary.blocks.extend([Block::Heading(chart.title.as_str().into()), Block::Chart(chart)]);
    }
    page
}

fn is_shown(section: &Section) -> bool {
    section.depth == Depth::Always
}

const fn is_chart(block: &Block) -> bool {
    matches!(block, Block::Chart(_))
}
