//! Two traces that were written, read again and compared with each other. Must not know how either was made.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use anyhow::Context;
use samples::{TRACE_SCHEMA, Trace};
use serde::Deserialize;

use super::rendering::Destination;
use crate::{bounded_file, exit::Exit, failure::Misuse};

/// Holds the second against the first.
pub(super) fn run(files: &[PathBuf], written: &Destination) -> anyhow::Result<Exit> {
    let [a, b] = files else { return Err(Misuse::new("--compare takes two files").into()) };
    written.write_contrast(&analysis::trace_contrast(&read(a)?, &read(b)?))?;
    Ok(Exit::Success)
}

/// What a document is, readable whatever its shape.
#[derive(Debug, Deserialize)]
struct Peek {
    schema: Option<u32>,
    tool: Option<String>,
    target: Option<serde_json::Value>,
}

fn read(path: &Path) -> anyhow::Result<Trace> {
    let name = path.display();
    let cannot = || format!("cannot read {name}");
    let file = File::open(path).with_context(cannot)?;
    let text = bounded_file::read_ours(file).with_context(cannot)?;
    let peek: Peek = match serde_json::from_str(&text) {
        Ok(peek) => peek,
        Err(error) if text.trim_start().starts_with('{') => {
            return Err(error).with_context(|| format!("cannot read the trace {name}"));
        }
        Err(_) => return Err(no_trace(path).into()),
    };
    match peek {
        Peek { schema: Some(TRACE_SCHEMA), target: Some(_), .. } => serde_json::from_str(&text)
            .with_context(|| format!("{name} says that it is a trace of shape {TRACE_SCHEMA}, and is not")),
        Peek { schema: Some(schema), target: Some(_), tool } => {
            let tool = tool.unwrap_or_default();
            let message = format!(
                "{name} is a trace of shape {schema}, written by plumb {tool}, and this plumb reads shape {TRACE_SCHEMA} only"
            );
            Err(Misuse::new(message).hint("compare it with that plumb, or trace again").into())
        }
        _ => Err(no_trace(path).into()),
    }
}

fn no_trace(path: &Path) -> Misuse {
    let message = format!("{} is no trace", path.display());
    Misuse::new(message)
        .hint("`plumb trace --output a.json` writes one; runs are compared by `plumb compare`")
}
