//! `plumb memory report`: a record of looks at memory, or a comparison, as a page.

use std::{fs::File, io::BufRead as _, io::BufReader, path::PathBuf};

use ::report::{SingleFormat, render_memory};
use anyhow::Context;
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
        let file =
            File::open(&self.record).with_context(|| format!("cannot read {}", self.record.display()))?;
        let mut first = String::new();
        BufReader::new(file)
            .read_line(&mut first)
            .with_context(|| format!("cannot read {}", self.record.display()))?;
        match serde_json::from_str::<compare::Document>(&first) {
            Ok(document) => Ok(summary::of_comparison(&document)),
            Err(_) => Ok(summary::of_record(&record::read(&self.record)?)),
        }
    }
}
