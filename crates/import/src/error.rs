//! Why a file could not be imported. Must not know how it was opened.

use std::io;

use thiserror::Error;

/// Why nothing was imported from a file. `E` is why a test could not be kept.
#[derive(Debug, Error)]
pub enum ImportError<E> {
    /// It could not be read to its end.
    #[error("cannot read {name}: {source}")]
    Read {
        /// Which file.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// There is nothing in it.
    #[error("{name} is empty: it holds no log")]
    Empty {
        /// Which file.
        name: String,
    },
    /// It is no text.
    #[error("{name} is no text: {what}")]
    NotText {
        /// Which file.
        name: String,
        /// What it looks like, and what to do where something can be done.
        what: &'static str,
    },
    /// A line is longer than any log's.
    #[error("line {line} of {name} is longer than {most} bytes, so it is none of the logs that are known")]
    LongLine {
        /// Which file.
        name: String,
        /// Which line, from 1.
        line: u64,
        /// The most that is read as one line.
        most: usize,
    },
    /// No test was found, or none that is whole enough.
    #[error("nothing to import in {name}: {}", because(*.lines, .notes))]
    Nothing {
        /// Which file.
        name: String,
        /// How many lines it has.
        lines: u64,
        /// What was begun and left out, and why.
        notes: Vec<String>,
        /// Whether something of a known format begins in it, and no line is of another tool.
        is_known: bool,
    },
    /// A test could not be kept.
    #[error(transparent)]
    Keep(E),
}

fn because(lines: u64, notes: &[String]) -> String {
    match (lines, notes) {
        (1, []) => "its one line is none of a log or table that is known".to_owned(),
        (_, []) => format!("none of its {lines} lines is of a log or table that is known"),
        _ => notes.join("; "),
    }
}
