//! Repeats the user's `--db` flag in printed commands, so that these commands read the same database.

use std::{path::Path, sync::OnceLock};

use store::Location;

static FLAG: OnceLock<String> = OnceLock::new();

/// Stores the flag without passwords.
pub(crate) fn set(database: &Path) {
    let place = Location::parse(database).ok().filter(|_| database.to_str().is_some());
    let Some(place) = place.map(|place| place.to_string()) else { return };
    let Ok(quoted) = shlex::try_quote(&place) else { return };
    let _ = FLAG.set(format!("--db {quoted}"));
}

pub(crate) fn flag() -> Option<String> {
    FLAG.get().cloned()
}

/// Adds the flag to the commands in backticks.
pub(crate) fn in_text(text: &str) -> String {
    let Some(flag) = FLAG.get() else { return text.to_owned() };
    let mut pieces = text.split("`plumb ");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |named, piece| match piece.split_once('`') {
        Some((arguments, rest)) => {
            format!("{named}`{}`{rest}", ::report::with_database(&format!("plumb {arguments}"), flag))
        }
        None => format!("{named}`plumb {piece}"),
    })
}
