//! `plumb import`: other tools' logs become a run, whole or not at all.

mod summary;

use std::{
    collections::BTreeSet,
    fs::File,
    io::{BufRead, BufReader, IsTerminal, stdin, stdout},
    path::Path,
};

use ::import::{Assembler, Done, ImportError, KNOWN, Meta, Options, TooManyCells};
use anyhow::Context;
use clap::Args;
use jiff::Timestamp;
use samples::{RunHeader, RunId, RunRecord, UnixMillis};

use self::summary::Summary;
use super::{TOOL, report};
use crate::{exit::Exit, failure::Misuse, global_flags::GlobalFlags, output, remedy_results, store_path};

/// Columns that are named where one is not among them.
const NAMED: usize = 40;

/// Of more results nobody waits for the summary, which compares all of them.
const SUMMED_UP: usize = 1000;

/// What is read of a file at once.
const CHUNK: usize = 64 << 10;

/// Flags of `plumb import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Logs and tables of other tools, alone or within other text; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The run's title, read like a heading over all tests: "with vhost + Host->VM"
    #[arg(long, short)]
    title: Option<String>,
    /// What the run is called, as in `plumb report latest:NAME`
    #[arg(long, default_value = "import")]
    name: String,
    /// A table's column that is a factor, whatever it looks like; may be given again
    #[arg(long, value_name = "COLUMN")]
    factor: Vec<String>,
    /// A table's column that is a value; may be given again
    #[arg(long, value_name = "COLUMN")]
    metric: Vec<String>,
    /// Tests of several files with equal settings are trials of one cell; else each file is a setting
    #[arg(long)]
    together: bool,
    /// Take tables too in files that hold the tools' own logs, which they mostly repeat
    #[arg(long)]
    tables: bool,
    /// Print the run's name alone
    #[arg(long, short)]
    quiet: bool,
}

/// Imports them.
pub(crate) fn run(args: &ImportArgs, shared: &GlobalFlags) -> anyhow::Result<Exit> {
    let mut store = store_path::open(shared.db.as_deref())?;
    let meta = Meta {
        name: name(&args.name)?,
        title: args.title.clone(),
        together: args.together,
        tables: args.tables,
        ..meta(RunId(format!("{}-{}", args.name, Timestamp::now().strftime("%Y%m%d-%H%M%S"))))
    };
    let options = Options { factors: args.factor.clone(), metrics: args.metric.clone() };
    let mut told = Summary::new(args.quiet);
    let mut assembler = Assembler::new(meta);
    let wanted = assembler.header().id;
    let mut header = None;
    let mut columns = BTreeSet::new();
    let kept = store.import(&wanted, |importing| -> anyhow::Result<RunHeader> {
        for name in &args.files {
            columns.append(&mut read(name, &options, &mut assembler, &mut |done| {
                importing.trial(&done.trial)?;
                Ok(told.test(&done)?)
            })?);
        }
        known(&options, &columns)?;
        let assembled = assembler.finish();
        bounded(assembled.bounds)?;
        for done in assembled.rest {
            importing.trial(&done.trial)?;
            told.test(&done)?;
        }
        header = Some(assembled.header.clone());
        Ok(assembled.header)
    })?;
    let header = header.context("the import has no header")?;
    let results = header.cells.len();
    told.end(&RunHeader { id: kept.clone(), ..header })?;
    if !args.quiet && stdout().is_terminal() && results <= SUMMED_UP {
        let (record, findings) = remedy_results::findings(&store, store.load(&kept)?)?;
        output::coloured(&format!("\n{}", report::summary(&findings, &record)?))?;
    }
    Ok(Exit::Success)
}

/// One file's run, kept nowhere.
pub(crate) fn record(path: &Path) -> anyhow::Result<RunRecord> {
    let name = path.display().to_string();
    let mut assembler = Assembler::new(meta(RunId(name.clone())));
    let mut trials = Vec::new();
    read(&name, &Options::default(), &mut assembler, &mut |done| {
        trials.push(done.trial);
        Ok(())
    })?;
    let assembled = assembler.finish();
    bounded(assembled.bounds)?;
    trials.extend(assembled.rest.into_iter().map(|done| done.trial));
    Ok(RunRecord::new(assembled.header, trials))
}

fn meta(id: RunId) -> Meta {
    Meta {
        id,
        name: "import".to_owned(),
        title: None,
        tool: TOOL.to_owned(),
        now: UnixMillis(Timestamp::now().as_millisecond()),
        together: false,
        tables: false,
    }
}

/// Refuses columns that no table has.
fn known(options: &Options, columns: &BTreeSet<String>) -> anyhow::Result<()> {
    let unknown = options.unknown(columns);
    let [first, ..] = unknown[..] else { return Ok(()) };
    let shown: Vec<&str> = columns.iter().map(String::as_str).take(NAMED).collect();
    let hint = if shown.is_empty() {
        "there is no table; nothing was imported".to_owned()
    } else {
        format!("the columns are: {}; nothing was imported", shown.join(", "))
    };
    Err(Misuse::new(format!("no table has a column `{first}`")).hint(hint).into())
}

/// Reads one file; what is complete goes to `keep`. Returns the headings of its tables' columns.
fn read(
    name: &str,
    options: &Options,
    assembler: &mut Assembler,
    keep: &mut dyn FnMut(Done) -> anyhow::Result<()>,
) -> anyhow::Result<BTreeSet<String>> {
    let (shown, mut input) = open(name)?;
    assembler.file(&shown);
    let read = ::import::read(&shown, &mut *input, options, &mut |found| {
        assembler.take(found).into_iter().try_for_each(&mut *keep)?;
        bounded(assembler.within_bounds())
    });
    match read {
        Ok(mut report) => {
            let columns = std::mem::take(&mut report.columns);
            assembler.read(report);
            Ok(columns)
        }
        Err(ImportError::Keep(error)) => Err(error),
        Err(ImportError::Read { name, source }) => {
            Err(source).with_context(|| format!("cannot read {name}; nothing was imported"))
        }
        Err(error) => Err(Misuse::new(error.to_string())
            .hint(format!("nothing was imported; recognised are {KNOWN}"))
            .into()),
    }
}

fn bounded(bounds: Result<(), TooManyCells>) -> anyhow::Result<()> {
    bounds.map_err(|error| Misuse::new(error.to_string()).hint("nothing was imported").into())
}

/// The file, and what it is called.
fn open(name: &str) -> anyhow::Result<(String, Box<dyn BufRead>)> {
    if name == "-" {
        return Ok(("standard input".to_owned(), Box::new(BufReader::with_capacity(CHUNK, stdin().lock()))));
    }
    let file = File::open(name).map_err(|error| Misuse::new(format!("cannot open {name}: {error}")))?;
    if file.metadata().is_ok_and(|file| file.is_dir()) {
        return Err(Misuse::new(format!("{name} is a folder")).hint("name the files in it").into());
    }
    Ok((name.to_owned(), Box::new(BufReader::with_capacity(CHUNK, file))))
}

fn name(name: &str) -> anyhow::Result<String> {
    let sign = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.');
    if ["latest", "baseline"].contains(&name) {
        let taken = Misuse::new(format!("`{name}` is no name for a run: it means another one"));
        return Err(taken
            .hint("`latest` is the newest run, `baseline:NAME` one that was kept under a name")
            .into());
    }
    if name.is_empty() || name.len() > 64 || !name.chars().all(sign) {
        let wrong = Misuse::new(format!("`{name}` is no name for a run"));
        return Err(wrong.hint("use up to 64 letters, digits, `-`, `_` and `.`").into());
    }
    Ok(name.to_owned())
}
