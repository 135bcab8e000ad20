//! `plumb import`: turns logs from other tools into a run. If a file cannot be imported, nothing is imported.

pub(crate) mod reading;
mod summary;

use std::{
    collections::BTreeSet,
    io::{IsTerminal, stdout},
};

use ::import::{Assembler, Meta, Options};
use anyhow::{Context, Result};
use clap::Args;
use jiff::Timestamp;
use samples::{RunHeader, RunId};

use self::{
    reading::{UnreadableFile, bounded, meta, read_all},
    summary::Summary,
};
use super::report;
use crate::{exit::Exit, failure::Misuse, global_flags::GlobalFlags, output, remedy_results, store_path};

const NAMED: usize = 40;

/// Maximum number of results in a summary, which compares all of them with each other.
const MAX_SUMMARY: usize = 1000;

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Files that contain logs or tables from other tools. `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The run's title, e.g. "with vhost + Host->VM". It is treated as a heading above all tests
    #[arg(long, short)]
    title: Option<String>,
    /// The run's name, for `plumb report latest:NAME`
    #[arg(long, default_value = "import")]
    name: String,
    /// A table column to treat as a factor (may be repeated)
    #[arg(long, value_name = "COLUMN")]
    factor: Vec<String>,
    /// A table column to treat as a metric (may be repeated)
    #[arg(long, value_name = "COLUMN")]
    metric: Vec<String>,
    /// Treat all tests with equal settings as trials of one result, even across files or parts of a file
    #[arg(long)]
    together: bool,
    /// Also import tables from files that contain tool logs (such tables usually repeat the logs)
    #[arg(long)]
    tables: bool,
    /// Skip unreadable files and report why, instead of importing nothing
    #[arg(long)]
    skip_unreadable: bool,
    /// Also list where each test was found, and all notes
    #[arg(long)]
    sources: bool,
    /// Print only the run's name
    #[arg(long, short, conflicts_with = "sources")]
    quiet: bool,
}

pub(crate) fn run(args: &ImportArgs, shared: &GlobalFlags) -> Result<Exit> {
    let mut store = store_path::open(shared.db.as_deref())?;
    let meta = Meta {
        name: name(&args.name)?,
        title: args.title.clone(),
        together: args.together,
        tables: args.tables,
        ..meta(RunId(format!("{}-{}", args.name, Timestamp::now().strftime("%Y%m%d-%H%M%S"))))
    };
    let options = Options { factors: args.factor.clone(), metrics: args.metric.clone() };
    let mut summary = Summary::new(args.quiet, args.sources);
    let mut assembler = Assembler::new(meta);
    let name = assembler.header().id;
    let mut header = None;
    let files = readable(args, &options, &mut assembler)?;
    let stored = store.import(&name, |importing| -> Result<RunHeader> {
        let columns = read_all(&files, &options, &mut assembler, &mut |done| {
            importing.trial(&done.trial)?;
            Ok(summary.test(&done)?)
        })?;
        check_columns(&options, &columns)?;
        let assembled = assembler.finish();
        bounded(assembled.bounds)?;
        for done in assembled.rest {
            importing.trial(&done.trial)?;
            summary.test(&done)?;
        }
        header = Some(assembled.header.clone());
        Ok(assembled.header)
    })?;
    let header = header.context("the import has no header")?;
    let results = header.results.len();
    summary.end(&RunHeader { id: stored.clone(), ..header })?;
    if !args.quiet && stdout().is_terminal() && results <= MAX_SUMMARY {
        let (record, findings) = remedy_results::findings(&store, store.load(&stored)?)?;
        output::coloured(&format!("\n{}", report::summary(&findings, &record)?))?;
    }
    Ok(Exit::Success)
}

fn readable(args: &ImportArgs, options: &Options, assembler: &mut Assembler) -> Result<Vec<String>> {
    if !args.skip_unreadable {
        return Ok(args.files.clone());
    }
    let (names, left_out): (Vec<String>, Vec<UnreadableFile>) =
        reading::unreadable_files(&args.files, options)?.into_iter().unzip();
    if left_out.len() == args.files.len() {
        return Err(reading::refusal(&left_out, args.files.len()).into());
    }
    left_out.iter().for_each(|file| assembler.left_out(&file.reason));
    Ok(args.files.iter().filter(|name| !names.contains(name)).cloned().collect())
}

fn check_columns(options: &Options, columns: &BTreeSet<String>) -> Result<()> {
    let unknown = options.unknown(columns);
    let [first, ..] = unknown[..] else { return Ok(()) };
    let shown: Vec<&str> = columns.iter().map(String::as_str).take(NAMED).collect();
    let hint = if shown.is_empty() {
        "the input contains no table; nothing was imported".to_owned()
    } else {
        format!("available columns: {}; nothing was imported", shown.join(", "))
    };
    Err(Misuse::new(format!("no table has a column `{first}`")).hint(hint).into())
}

fn name(name: &str) -> Result<String> {
    let sign = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.');
    if ["latest", "baseline"].contains(&name) {
        let taken = Misuse::new(format!("invalid run name `{name}`: it is reserved"));
        return Err(taken.hint("`latest` is the newest run, and `baseline:NAME` is a baseline").into());
    }
    if name.is_empty() || name.len() > 64 || !name.chars().all(sign) {
        let wrong = Misuse::new(format!("invalid run name `{name}`"));
        return Err(wrong.hint("use up to 64 letters, digits, `-`, `_` and `.`").into());
    }
    Ok(name.to_owned())
}
