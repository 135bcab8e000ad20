//! Checks the names and sections of variants. Their contents are checked when they are applied.

use crate::{
    diagnosis::Problem,
    document::{self, Document},
    nearest,
};

pub(super) fn check(document: &Document, problems: &mut Vec<Problem>) {
    for entry in document.variants.iter() {
        if !super::names::is_slug(entry.name()) {
            let message = format!("`{}` is not a valid variant name", entry.name());
            let help =
                "use lower-case letters, digits and dashes: the name becomes part of the scenario's name";
            problems.push(Problem::new(entry.name.span(), message, "invalid name").help(help));
        }
        for section in &entry.table.sections {
            let (key, place) = (section.as_str(), section.span());
            if document::FIXED.contains(&key) {
                let message = format!("a variant cannot change `{key}`");
                let help = "the variant's name is appended to that of the scenario";
                problems.push(Problem::new(place, message, "not in a variant").help(help));
            } else if !document::keys().any(|known| known == key) {
                let known = document::keys().filter(|key| !document::FIXED.contains(key));
                let help = nearest::advice(key, "keys", known);
                let message = format!("unknown key `{key}`");
                problems.push(Problem::new(place, message, "not a key here").help(help));
            }
        }
    }
}
