//! Finds type names without a noun: participles and question words.

use syn::Item;

use crate::source::{Module, Source};

/// Participles that no type name may contain, even before a noun.
const NEVER: &[&str] = &[
    "Beside", "By", "Came", "Heard", "Held", "How", "Kept", "Made", "Said", "Seen", "Told", "What", "When",
    "Where", "Which", "Who", "Whose", "Why",
];
/// Participles that no type name may end with.
const IRREGULAR: &[&str] = &[
    "Bound", "Built", "Drawn", "Found", "Given", "Gone", "Known", "Left", "Lost", "Meant", "Met", "Put",
    "Read", "Sent", "Shown", "Spent", "Split", "Spoken", "Stood", "Taken", "Thrown", "Torn", "Written",
];
const NOUNS: &[&str] = &["Bed", "Feed", "Need", "Seed", "Speed"];

pub(crate) fn types(source: &Source) -> impl Iterator<Item = (&Module, String)> {
    source.modules.iter().flat_map(|module| {
        module.all_items().into_iter().filter_map(move |item| Some((module, type_name(item)?)))
    })
}

pub(crate) fn without_noun(source: &Source) -> Vec<String> {
    let found = types(source).filter(|(_, name)| lacks_noun(name));
    found.map(|(module, name)| format!("{}: {name}", module.file)).collect()
}

fn type_name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Struct(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Union(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

fn lacks_noun(name: &str) -> bool {
    let words = words(name);
    words.iter().any(|word| NEVER.contains(&word.as_str()))
        || words.last().is_some_and(|word| is_participle(word))
}

fn is_participle(word: &str) -> bool {
    IRREGULAR.contains(&word) || word.ends_with("ed") && !NOUNS.contains(&word)
}

/// Splits `PlannedTrial` into `Planned` and `Trial`. Consecutive capitals stay together.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = None;
    for letter in name.chars() {
        let begins = letter.is_uppercase() && !before.is_some_and(char::is_uppercase);
        match words.last_mut() {
            Some(word) if !begins => word.push(letter),
            _ => words.push(letter.to_string()),
        }
        before = Some(letter);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn participle_needs_a_noun() {
        for name in ["Told", "ToldKind", "Observed", "TapsHeld", "Why", "ByHost", "Spent"] {
            assert!(lacks_noun(name), "{name}");
        }
        for name in ["PlannedTrial", "LinkSpeed", "Seed", "Settings", "Byte", "Lab"] {
            assert!(!lacks_noun(name), "{name}");
        }
    }
}
