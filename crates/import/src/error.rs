//! Import errors.

use std::io;

use thiserror::Error;

/// Why a file could not be imported. `E` is the error of the caller's sink.
#[derive(Debug, Error)]
pub enum ImportError<E> {
    #[error("cannot read {name}: {source}")]
    Read { name: String, source: io::Error },
    /// The file has no content.
    #[error("{name} is empty; expected a log")]
    Empty { name: String },
    /// Binary file.
    #[error("{name} is not a text file: {what}")]
    NotText {
        name: String,
        /// Detected type and, where possible, advice.
        what: &'static str,
    },
    /// A line exceeds the limit.
    #[error("line {line} of {name} is longer than {most} bytes, so this is not a supported log")]
    LongLine {
        name: String,
        /// Counted from 1.
        line: u64,
        /// Limit in bytes.
        most: usize,
    },
    /// No complete test found.
    #[error("nothing to import in {name}: {}", because(*.lines, .notes))]
    Nothing {
        name: String,
        lines: u64,
        /// Incomplete tests and why they were skipped.
        notes: Vec<String>,
        /// Whether the file starts a known format and has no lines of another tool.
        is_known: bool,
    },
    /// The caller could not store a test.
    #[error(transparent)]
    Keep(E),
}

fn because(lines: u64, notes: &[String]) -> String {
    match (lines, notes) {
        (1, []) => "its only line is not part of a supported log or table".to_owned(),
        (_, []) => format!("none of its {lines} lines is part of a supported log or table"),
        _ => notes.join("; "),
    }
}
