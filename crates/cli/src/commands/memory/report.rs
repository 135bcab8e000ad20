//! `plumb memory report`: shows a recording as a page.

use std::path::PathBuf;

use ::report::{SingleFormat, render_memory};
use clap::Args;

use super::{recording, summary};
use crate::{destination, exit::Exit, output};

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ReportArgs {
    /// Recording by `plumb memory top --record` or `plumb rebalance --record`
    record: PathBuf,
    /// Write to this file: .html (with charts), .md, .txt or .json
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const AFTER_HELP: &str = "Exit status: 0 success; 1 cannot read the recording; 64 usage error.";

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<Exit> {
    let page = args.output.as_deref().map(summary::page).transpose()?;
    let summary = summary::of_recording(&recording::read(&args.record)?);
    match page {
        Some((path, format)) => summary::write(&summary, &path, format)?,
        None => output::coloured(&render_memory(&summary, SingleFormat::Terminal, &destination::here()))?,
    }
    Ok(Exit::Success)
}
