//! The page of one run against another, and the order of its sections. Must not know how any of them is made or
//! shown.

mod answer;
mod apart;
mod caveats;
mod cells;
mod full;
mod head;
mod surroundings;

use findings::{Contrast, Gate};

use crate::page::{Page, Section};

/// What sections are made from.
struct Source<'a> {
    contrast: &'a Contrast,
    /// What was asked of it, if anything was.
    gate: Option<&'a Gate>,
}

/// A section, or nothing where the contrast has nothing to say on it.
type Build = fn(&Source<'_>) -> Option<Section>;

/// What surrounds both runs comes before any number, and what it all comes to last.
const ORDER: &[Build] = &[
    head::build,
    surroundings::build,
    caveats::build,
    cells::build,
    full::build,
    apart::build,
    answer::build,
];

/// Run B against run A.
pub(crate) fn page(contrast: &Contrast, gate: Option<&Gate>) -> Page {
    let source = Source { contrast, gate };
    let title = format!("{} (B) against {} (A)", contrast.b.id, contrast.a.id);
    Page {
        title: title.replace(char::is_control, " "),
        sections: ORDER.iter().filter_map(|build| build(&source)).collect(),
    }
}
