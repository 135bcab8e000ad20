//! Import errors.

use std::io;

use thiserror::Error;

#[derive(Debug, Error)]
pub enum ImportError<E> {
    #[error("cannot read {name}: {source}")]
    Read { name: String, source: io::Error },
    #[error("{name} is empty; expected a log")]
    Empty { name: String },
    #[error("{name} is not a text file: {what}")]
    NotText { name: String, what: &'static str },
    #[error("line {line} of {name} is longer than {most} bytes, so this is not a supported log")]
    LongLine { name: String, line: u64, most: usize },
    #[error("nothing to import in {name}: {}", because(*.lines, .notes))]
    Nothing { name: String, lines: u64, notes: Vec<String>, is_known: bool },
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
