//! The destination of a report: the terminal, or a file whose extension selects the format.

use std::{fs, io, path::Path};

use ::report::{Format, Options, SingleFormat};
use anyhow::{Context, Result};
use sys::output_file;

use crate::{failure::Misuse, named_database, output, width};

const COLUMNS: usize = 100;

pub(crate) fn here() -> Options {
    Options {
        colour: console::colors_enabled(),
        width: width::of_page(),
        database: named_database::flag(),
        ..Options::default()
    }
}

pub(crate) fn in_a_file() -> Options {
    Options { colour: false, width: COLUMNS, ..Options::default() }
}

pub(crate) fn format_of(path: &Path) -> Result<Format> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("md" | "markdown") => Ok(Format::Markdown),
        Some("html" | "htm") => Ok(Format::Html),
        Some("tex") => Ok(Format::Latex),
        Some("json") => Ok(Format::Json),
        Some("csv") => Ok(Format::Csv),
        Some("txt") => Ok(Format::Terminal),
        _ => {
            let message = format!("the file extension of {} is not supported", path.display());
            Err(Misuse::new(message)
                .hint("use .html, .md, .tex, .json, .csv or .txt, or specify --format")
                .into())
        }
    }
}

pub(crate) fn page_format_of(path: &Path) -> Result<SingleFormat> {
    match format_of(path) {
        Ok(Format::Markdown) => Ok(SingleFormat::Markdown),
        Ok(Format::Html) => Ok(SingleFormat::Html),
        Ok(Format::Json) => Ok(SingleFormat::Json),
        Ok(Format::Terminal) => Ok(SingleFormat::Terminal),
        _ => {
            let message = format!("the file extension of {} is not supported for this page", path.display());
            Err(Misuse::new(message).hint("use .html, .json, .md or .txt").into())
        }
    }
}

/// If the parent directory is missing, creates it and prints a notice. Fails if more than one level is missing,
/// because the path is probably a typo.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    write_bytes(path, text.as_bytes())
}

pub(crate) fn write_bytes(path: &Path, contents: &[u8]) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
    if let Some(folder) = folder {
        fs::create_dir(folder)
            .with_context(|| format!("cannot create the directory {}", folder.display()))?;
        output::aside(format_args!("created the directory {}", folder.display()));
    }
    replace(path, contents).with_context(|| cannot_write(path))
}

/// Replaces a file atomically, so that the file is never truncated if the disk is full.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    Ok(output_file::replace(path, bytes)?)
}

pub(crate) fn replace_text(path: &Path, text: &str) -> Result<()> {
    replace(path, text.as_bytes()).with_context(|| cannot_write(path))
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write to {}", path.display())
}
