//! Reads recordings of VM memory samples.

use std::{fs::File, path::Path};

use anyhow::Context;
use memory::{MemorySample, parse_recording};

use crate::{bounded_file, output};

/// If a crash left an incomplete line, prints a warning and skips this line.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<MemorySample>> {
    let cannot = || format!("cannot read the recording {}", path.display());
    let text = File::open(path).and_then(bounded_file::read_ours).with_context(cannot)?;
    let skipped = |line| output::aside(format_args!("skipping incomplete line {line} of {}", path.display()));
    Ok(parse_recording(path, &text, skipped)?)
}
