//! Files of one line, as the kernel shows settings.

use std::fs;
use std::path::Path;

/// The line; `None` when it cannot be read or is empty.
pub(crate) fn line(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}
