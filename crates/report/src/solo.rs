//! The page of one trial alone, and the order of its sections. Must not know how any of them is made or shown.

mod configuration;
mod doubts;
mod flows;
mod hints;
mod outcome;
mod shape;

use findings::Solo;

use crate::page::{Page, Section};

/// A section, or nothing where the trial has nothing to say on it.
type Build = fn(&Solo) -> Option<Section>;

/// The answer, what it is made of, what to think of it.
const ORDER: &[Build] =
    &[outcome::build, flows::build, shape::build, hints::build, doubts::build, configuration::build];

/// The summary of a trial.
pub(crate) fn page(solo: &Solo) -> Page {
    let title = format!("{}, with {}", solo.words, solo.peer).replace(char::is_control, " ");
    Page { title, sections: ORDER.iter().filter_map(|build| build(solo)).collect() }
}
