//! `plumb memory report`: shows a recording or a comparison as a page.

use std::path::PathBuf;

use ::report::{SingleFormat, render_memory};
use clap::Args;
use findings::MemorySummary;

use super::{compare, record, summary};
use crate::{destination, exit::Exit, output};

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ReportArgs {
    /// Recording by `plumb memory top --record` or `plumb rebalance --record`, or output of `plumb memory
    /// compare --json`
    record: PathBuf,
    /// Write to this file: .html (with charts), .md, .txt or .json
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const AFTER_HELP: &str = "Exit status: 0 success; 1 cannot read the recording; 64 usage error.";

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
    /// A comparison is a single document; any other file is a recording.
    fn summary(&self) -> anyhow::Result<MemorySummary> {
        let text = record::text(&self.record)?;
        match serde_json::from_str::<compare::Document>(text.lines().next().unwrap_or_default()) {
            Ok(document) => Ok(summary::of_comparison(&document)),
            Err(_) => Ok(summary::of_record(&record::of_text(&self.record, &text)?)),
        }
    }
}
