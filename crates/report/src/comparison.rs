//! The sections of a comparison of two runs.

mod answer;
mod cases;
mod environment;
mod full;
mod guards;
mod head;
mod limitations;
mod results;
mod unmatched;

use findings::RunComparison;

pub(crate) use cases::{Case, all as cases};

use crate::{
    harmless::in_a_line,
    page::{Page, Section, Summary},
    text::Text,
};

type Build = fn(&RunComparison) -> Option<Section>;

/// Environments come before values. The answer comes last, or first on pages that are read from the top.
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

pub(crate) fn page(comparison: &RunComparison, place: Summary) -> Page {
    let title = format!("{} (B) vs {} (A)", comparison.b.id, comparison.a.id);
    let mut sections: Vec<Section> = ORDER.iter().filter_map(|build| build(comparison)).collect();
    if comparison.gate.is_some() || place == Summary::First {
        sections.rotate_right(1);
    }
    Page { title: in_a_line(&title), sections }
}

fn grouped<'a, T>(items: impl Iterator<Item = (&'a str, T)>) -> Vec<(&'a str, Vec<T>)> {
    let mut groups: Vec<(&str, Vec<T>)> = Vec::new();
    for (reason, item) in items {
        match groups.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, group)) => group.push(item),
            None => groups.push((reason, vec![item])),
        }
    }
    groups
}

fn explained(what: String, reason: &str) -> Text {
    Text::strong(what).and_plain(format!(": {reason}"))
}

fn first_of(names: &[String], most: usize, separator: &str) -> String {
    let shown = names[..names.len().min(most)].join(separator);
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
