//! The page of a single trial, and the order of its sections.

mod configuration;
mod distribution;
mod flows;
mod hints;
mod outcome;
mod warnings;

use findings::SingleMeasurement;

use crate::{
    harmless::in_a_line,
    kind,
    page::{Page, Section},
};

type Build = fn(&SingleMeasurement) -> Option<Section>;

const ORDER: &[Build] =
    &[outcome::build, flows::build, distribution::build, hints::build, warnings::build, configuration::build];

/// Formats a trial on one line of 80 columns, marked if its main value is doubtful.
pub(crate) fn line(single: &SingleMeasurement) -> String {
    let lines = single.outcome.as_ref().map(|outcome| kind::alone(outcome).lines()).unwrap_or_default();
    let first = lines.into_iter().next();
    let phrase = first.map_or_else(
        || "no data arrived".to_owned(),
        |(name, value)| format!("{name} {}", value.characters()),
    );
    if single.verdict.warnings == 0 { phrase } else { format!("{phrase} !") }
}

pub(crate) fn page(single: &SingleMeasurement) -> Page {
    let title = in_a_line(&format!("{}, with {}", single.words, single.peer));
    Page { title, sections: ORDER.iter().filter_map(|build| build(single)).collect() }
}
