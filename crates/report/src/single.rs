//! The page of a single trial. The short view has at most two hints and warnings.

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
    page::{Page, *},
    phrases::MOST_ADVICE,
    render::View,
    sections,
};

type Build = fn(&SingleMeasurement) -> Option<Section>;

const BEFORE: &[Build] = &[outcome::build, flows::build, distribution::build];

/// Formats a trial on one line of 80 columns. Marks the line if there are warnings.
pub(crate) fn line(single: &SingleMeasurement) -> String {
    let lines = single.outcome.as_ref().map(|outcome| kind::alone(outcome).lines()).unwrap_or_default();
    let first = lines.into_iter().next();
    let phrase = first.map_or_else(
        || "no data arrived".to_owned(),
        |(name, value)| format!("{name} {}", value.characters()),
    );
    if single.verdict.warnings == 0 { phrase } else { format!("{phrase} !") }
}

pub(crate) fn page(single: &SingleMeasurement, view: View) -> Page {
    let title = in_a_line(&format!("{}, with {}", single.words, single.peer));
    let build = |build: &Build| build(single);
    let advice = |most| [hints::build(single, most), warnings::build(single, most)];
    let sections = match view {
        View::Section(_) => advice(usize::MAX).into_iter().flatten().map(Section::unfolded).collect(),
        View::Full => {
            let advice = advice(usize::MAX).into_iter().flatten();
            BEFORE.iter().filter_map(build).chain(advice).chain(configuration::build(single)).collect()
        }
        View::Short => BEFORE.iter().filter_map(build).chain(short_advice(single)).collect(),
    };
    Page { title, sections }
}

/// Reserves room for one warning, even if there are many hints.
fn short_advice(single: &SingleMeasurement) -> Vec<Section> {
    let (hints, warnings) = (single.hints.len(), warnings::all(single).len());
    let most_hints = hints.min(MOST_ADVICE - usize::from(warnings > 0));
    let most_warnings = warnings.min(MOST_ADVICE - most_hints);
    let rest = sections::verdict::more(hints + warnings - most_hints - most_warnings, "latest");
    let mut sections: Vec<Section> =
        [hints::build(single, most_hints), warnings::build(single, most_warnings)]
            .into_iter()
            .flatten()
            .collect();
    if let Some(last) = sections.last_mut() {
        last.blocks.extend(rest.map(Block::Paragraph));
    }
    sections
}
