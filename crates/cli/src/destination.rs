//! Where a report goes: this terminal, or a file whose ending tells its format. Must not know what is reported.

use std::{fs, io, path::Path};

use ::report::{Format, Options, SingleFormat};
use anyhow::Context;
use sys::output_file;

use crate::{failure::Misuse, output, width};

/// The columns of a report in a file.
const COLUMNS: usize = 100;

/// How this terminal shows a report best.
pub(crate) fn here() -> Options {
    Options { colour: console::colors_enabled(), width: width::of_page(), ..Options::default() }
}

/// How a file shows a report best.
pub(crate) fn in_a_file() -> Options {
    Options { colour: false, width: COLUMNS, ..Options::default() }
}

/// The format that a file's ending names.
pub(crate) fn format_of(path: &Path) -> anyhow::Result<Format> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("md" | "markdown") => Ok(Format::Markdown),
        Some("html" | "htm") => Ok(Format::Html),
        Some("tex") => Ok(Format::Latex),
        Some("json") => Ok(Format::Json),
        Some("csv") => Ok(Format::Csv),
        Some("txt") => Ok(Format::Terminal),
        _ => {
            let message = format!("the ending of {} names no format", path.display());
            Err(Misuse::new(message)
                .hint("use .html, .md, .tex, .json, .csv or .txt, or say --format")
                .into())
        }
    }
}

/// The same of a page that is no run's, which has no form of rows.
pub(crate) fn page_format_of(path: &Path) -> anyhow::Result<SingleFormat> {
    match format_of(path) {
        Ok(Format::Markdown) => Ok(SingleFormat::Markdown),
        Ok(Format::Html) => Ok(SingleFormat::Html),
        Ok(Format::Json) => Ok(SingleFormat::Json),
        Ok(Format::Terminal) => Ok(SingleFormat::Terminal),
        _ => {
            let message = format!("the ending of {} names no format of this page", path.display());
            Err(Misuse::new(message).hint("use .html, .json, .md or .txt").into())
        }
    }
}

/// Writes a report to a file. Its folder is made, and that is said, where only it is missing: more is likely a slip.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    write_bytes(path, text.as_bytes())
}

/// The same of what is no text.
pub(crate) fn write_bytes(path: &Path, contents: &[u8]) -> anyhow::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
    if let Some(folder) = folder {
        fs::create_dir(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        output::aside(format_args!("made the folder {}", folder.display()));
    }
    replace(path, contents).with_context(|| cannot_write(path))
}

/// Replaces a file at once: a full disk leaves the old one, or none.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    Ok(output_file::replace(path, bytes)?)
}

/// The same of a text, with the file in the error.
pub(crate) fn replace_text(path: &Path, text: &str) -> anyhow::Result<()> {
    replace(path, text.as_bytes()).with_context(|| cannot_write(path))
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write to {}", path.display())
}
