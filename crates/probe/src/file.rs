//! Reads single-line files of the kernel.

use std::fs;
use std::path::Path;

pub(crate) fn line(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}
