//! The page that compares two runs, and the order of its sections.

mod answer;
mod environment;
mod full;
mod guards;
mod head;
mod limitations;
mod results;
mod unmatched;

use findings::RunComparison;

use crate::{
    harmless::in_a_line,
    page::{Page, Section},
};

type Build = fn(&RunComparison) -> Option<Section>;

/// The environments come before any values, and the answer, which is always present, comes last.
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

pub(crate) fn page(comparison: &RunComparison) -> Page {
    let title = format!("{} (B) vs {} (A)", comparison.b.id, comparison.a.id);
    let mut sections: Vec<Section> = ORDER.iter().filter_map(|build| build(comparison)).collect();
    if comparison.gate.is_some() {
        sections.rotate_right(1);
    }
    Page { title: in_a_line(&title), sections }
}
