//! `plumb memory report`: a record of looks at memory, or a comparison, as a page.

use std::path::PathBuf;

use ::report::{SingleFormat, render_memory};
use clap::Args;
use findings::MemorySummary;

use super::{compare, record, summary};
use crate::{destination, exit::Exit, output};

/// Flags of `plumb memory report`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ReportArgs {
    /// What `--record` of `plumb memory top` or `plumb rebalance` kept, or what `plumb memory compare --json` printed
    record: PathBuf,
    /// Write to this file: .html (with pictures), .md, .txt or .json
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Exit status: 0 it was shown; 1 it could not be read; 64 usage error.";

/// Shows it.
pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<Exit> {
    let page = args.output.as_deref().map(summary::page).transpose()?;
    let summary = args.summary()?;
    match page {
        Some((path, format)) => summary::write(&summary, &path, format)?,
        None => output::coloured(&render_memory(&summary, SingleFormat::Terminal, &destination::here()))?,
    }
    Ok(Exit::Success)
}

impl ReportArgs {
    /// A comparison is one document; anything else is a record.
    fn summary(&self) -> anyhow::Result<MemorySummary> {
        let text = record::text(&self.record)?;
        match serde_json::from_str::<compare::Document>(text.lines().next().unwrap_or_default()) {
            Ok(document) => Ok(summary::of_comparison(&document)),
            Err(_) => Ok(summary::of_record(&record::of_text(&self.record, &text)?)),
        }
    }
}
