//! Collects all files that cannot be imported, to report them together.

use std::{fmt, fs};

use ::import::{ImportError, KNOWN, Options};

use super::{open, read_file};
use crate::failure::Misuse;

#[derive(Debug)]
pub(super) struct UnreadableFile {
    pub(super) reason: String,
    /// Whether listing the supported formats may help.
    pub(super) is_unknown: bool,
}

impl fmt::Display for UnreadableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for UnreadableFile {}

impl UnreadableFile {
    pub(super) fn of<E: fmt::Display>(error: &ImportError<E>) -> Self {
        let is_unknown = matches!(error, ImportError::Nothing { is_known: false, .. });
        Self { reason: error.to_string(), is_unknown }
    }
}

/// Reads the files once to find the unreadable ones. Skips pipes and other inputs that can be read only
/// once.
pub(super) fn unreadable_files(
    files: &[String],
    options: &Options,
) -> anyhow::Result<Vec<(String, UnreadableFile)>> {
    let mut found = Vec::new();
    for name in files.iter().filter(|name| !is_read_once(name)) {
        let read = open(name).and_then(|mut input| read_file(&mut input, options, &mut |_| Ok(())));
        match read.map_err(|error| error.downcast::<UnreadableFile>()) {
            Ok(_) => {}
            Err(Ok(unreadable)) => found.push((name.clone(), unreadable)),
            Err(Err(error)) => return Err(error),
        }
    }
    Ok(found)
}

fn is_read_once(name: &str) -> bool {
    name == "-" || fs::metadata(name).is_ok_and(|file| !file.is_file() && !file.is_dir())
}

pub(super) fn refusal(unreadable: &[UnreadableFile], of: usize) -> Misuse {
    let reasons: Vec<String> = unreadable.iter().map(|file| format!("\n  {file}")).collect();
    let message = match unreadable {
        [one] => one.to_string(),
        several => format!("cannot import {} of {of} files:{}", several.len(), reasons.concat()),
    };
    let mut hint = "nothing was imported".to_owned();
    if unreadable.len() < of {
        hint += "; --skip-unreadable imports the other files";
    }
    if unreadable.iter().any(|file| file.is_unknown) {
        hint = format!("{hint}; supported formats: {KNOWN}");
    }
    Misuse::new(message).hint(hint)
}
