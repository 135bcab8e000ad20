//! `plumb runs export` and `import`: transfer a run as a single file.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use samples::{RunHeader, RunRecord};
use store::Store;

use crate::{destination, evidence, failure::Misuse, output, run_reference};

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A run's name or prefix, `latest`, `latest:SCENARIO`, or a baseline's name
    run: String,
    /// Output file, usually ending in `.json.gz`
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Output of `plumb runs export`, `plumb report -o page.html` or `plumb report --format raw`
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(super) fn export(args: &ExportArgs, store: &Store) -> Result<()> {
    let record = store.load(&store.resolve(&args.run)?)?;
    for part in &record.unreadable {
        output::aside(format_args!("note: without {}: {}", part.part, part.reason));
    }
    let path = args.output.display();
    let packed = evidence::pack(&record)?;
    destination::replace(&args.output, &packed).with_context(|| format!("cannot write the run to {path}"))?;
    Ok(output::line(format_args!(
        "exported {} with {} trials to {path}",
        record.header.id,
        record.trials.len()
    ))?)
}

pub(super) fn import(args: &ImportArgs, store: &mut Store) -> Result<()> {
    // Read all files first, so that nothing is imported if there is an error.
    let records = args.files.iter().map(|path| record(path)).collect::<Result<Vec<_>>>()?;
    for record in records {
        output::line(keep(&record, store)?)?;
    }
    Ok(())
}

fn record(path: &Path) -> Result<RunRecord> {
    run_reference::record_in(path)?.ok_or_else(|| {
        let message = format!("{} is not a plumb run", path.display());
        Misuse::new(message).hint("use `plumb import` for logs of other tools").into()
    })
}

fn keep(record: &RunRecord, store: &mut Store) -> Result<String> {
    let original = &record.header.id;
    let stored = store.runs()?;
    if stored.iter().any(|run| run.id == *original) && is_same(&store.load(original)?, record) {
        return Ok(format!("{original} is already stored, with the same contents"));
    }
    let id = store.keep(record)?;
    let trials = record.trials.len();
    Ok(match id == *original {
        true => format!("imported {id} with {trials} trials"),
        false => {
            format!("imported as {id} with {trials} trials, because a different run is named {original}")
        }
    })
}

fn is_same(stored: &RunRecord, other: &RunRecord) -> bool {
    let header = RunHeader { state: stored.header.state, ..other.header.clone() };
    stored.header == header && stored.trials == other.trials && stored.skipped == other.skipped
}
