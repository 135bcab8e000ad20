//! Compares two trace files.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use anyhow::Context;
use samples::{TRACE_SCHEMA, Trace};
use serde::Deserialize;

use super::rendering::Destination;
use crate::{bounded_file, exit::Exit, failure::Misuse};

pub(super) fn run(files: &[PathBuf], written: &Destination) -> anyhow::Result<Exit> {
    let [a, b] = files else { return Err(Misuse::new("--compare needs two files").into()) };
    written.write_comparison(&analysis::trace_comparison(&read(a)?, &read(b)?))?;
    Ok(Exit::Success)
}

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
            .with_context(|| format!("{name} claims to be a trace with schema {TRACE_SCHEMA}, but is not")),
        Peek { schema: Some(schema), target: Some(_), tool } => {
            let tool = tool.unwrap_or_default();
            let message = format!(
                "{name} is a trace with schema {schema}, written by plumb {tool}; this plumb only reads \
                    schema {TRACE_SCHEMA}"
            );
            Err(Misuse::new(message)
                .hint("use the version of plumb that wrote it, or record a new trace")
                .into())
        }
        _ => Err(no_trace(path).into()),
    }
}

fn no_trace(path: &Path) -> Misuse {
    let message = format!("{} is not a trace", path.display());
    Misuse::new(message).hint("`plumb trace --output a.json` writes a trace; `plumb compare` compares runs")
}
