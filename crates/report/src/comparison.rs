//! The page that compares two runs, and the order of its sections.

mod answer;
mod environment;
mod full;
mod guards;
mod head;
mod limitations;
mod results;
mod unmatched;

use findings::{Gate, RunComparison};

use crate::{
    harmless::in_a_line,
    page::{Page, Section},
    render::Summary,
};

struct Source<'a> {
    comparison: &'a RunComparison,
    gate: Option<&'a Gate>,
}

type Build = fn(&Source<'_>) -> Option<Section>;

/// The environments come before any values, and the answer, which is always present, comes last, or first on pages
/// that are read from the top.
const ORDER: &[Build] = &[
    head::build,
    environment::build,
    limitations::build,
    results::build,
    guards::changed,
    full::build,
    guards::all,
    unmatched::build,
    answer::build,
];

pub(crate) fn page(comparison: &RunComparison, gate: Option<&Gate>, place: Summary) -> Page {
    let source = Source { comparison, gate };
    let title = format!("{} (B) vs {} (A)", comparison.b.id, comparison.a.id);
    let mut sections: Vec<Section> = ORDER.iter().filter_map(|build| build(&source)).collect();
    if gate.is_some() || place == Summary::First {
        sections.rotate_right(1);
    }
    Page { title: in_a_line(&title), sections }
}
