//! The `--db` flag of the command line, repeated in printed commands so that they read the same database.

use std::{path::Path, sync::OnceLock};

use crate::store_path;

static FLAG: OnceLock<String> = OnceLock::new();

pub(crate) fn set(database: &Path) {
    let place = store_path::display(database);
    let quoted = shlex::try_quote(&place).map_or(place.clone(), Into::into);
    let _ = FLAG.set(format!("--db {quoted}"));
}

pub(crate) fn flag() -> Option<String> {
    FLAG.get().cloned()
}

/// Adds the flag to the commands between backticks.
pub(crate) fn in_text(text: &str) -> String {
    let Some(flag) = FLAG.get() else { return text.to_owned() };
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(index, part)| match index % 2 {
        1 => ::report::with_database(part, flag),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}
