//! Variants: names that can be a part of a scenario's, and sections that a document has. What they make of the document is
//! checked when they are laid over it.

use crate::{
    diagnosis::Problem,
    document::{self, Document},
    nearest,
};

pub(super) fn check(document: &Document, problems: &mut Vec<Problem>) {
    for entry in document.variants.iter() {
        if !super::names::is_slug(entry.name()) {
            let message = format!("`{}` cannot be the name of a variant", entry.name());
            let help =
                "write lower-case letters, digits and dashes: it becomes a part of the scenario's name";
            problems.push(Problem::new(entry.name.span(), message, "this name").help(help));
        }
        for section in &entry.table.sections {
            let (key, place) = (section.get_ref().as_str(), section.span());
            if document::FIXED.contains(&key) {
                let message = format!("a variant cannot change `{key}`");
                let help = "its name is the scenario's with its own behind it";
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
