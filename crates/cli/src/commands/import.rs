//! `plumb import`: other tools' logs become a run, whole or not at all.

mod summary;
mod unreadable;

use std::{
    collections::BTreeSet,
    fs::File,
    io::{BufRead, BufReader, IsTerminal, stdin, stdout},
    path::Path,
};

use ::import::{Assembler, Done, FileReport, ImportError, ImportedTest, Meta, Options, TooManyCells};
use anyhow::Context;
use clap::Args;
use jiff::Timestamp;
use samples::{RunHeader, RunId, RunRecord, UnixMillis};

use self::{summary::Summary, unreadable::UnreadableFile};
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
    /// Leave out files that cannot be read, and say which and why, instead of importing nothing
    #[arg(long)]
    skip_unreadable: bool,
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
    let files = readable(args, &options, &mut assembler)?;
    let kept = store.import(&wanted, |importing| -> anyhow::Result<RunHeader> {
        let columns = read_all(&files, &options, &mut assembler, &mut |done| {
            importing.trial(&done.trial)?;
            Ok(told.test(&done)?)
        })?;
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

/// The files that are imported: all, or of `--skip-unreadable` those that can be.
fn readable(args: &ImportArgs, options: &Options, assembler: &mut Assembler) -> anyhow::Result<Vec<String>> {
    if !args.skip_unreadable {
        return Ok(args.files.clone());
    }
    let (names, left_out): (Vec<String>, Vec<UnreadableFile>) =
        unreadable::among(&args.files, options)?.into_iter().unzip();
    if left_out.len() == args.files.len() {
        return Err(unreadable::refusal(&left_out, args.files.len()).into());
    }
    left_out.iter().for_each(|file| assembler.left_out(&file.why));
    Ok(args.files.iter().filter(|name| !names.contains(name)).cloned().collect())
}

/// Reads every file; where one cannot be read, the refusal names all of those. Returns the headings of columns.
fn read_all(
    files: &[String],
    options: &Options,
    assembler: &mut Assembler,
    keep: &mut dyn FnMut(Done) -> anyhow::Result<()>,
) -> anyhow::Result<BTreeSet<String>> {
    let mut columns = BTreeSet::new();
    for (name, at) in files.iter().zip(1..) {
        match read(name, options, assembler, keep).map_err(|error| error.downcast::<UnreadableFile>()) {
            Ok(mut of_file) => columns.append(&mut of_file),
            Err(Err(error)) => return Err(error),
            Err(Ok(first)) => {
                let others = unreadable::among(&files[at..], options)?.into_iter().map(|(_, file)| file);
                let unreadable: Vec<UnreadableFile> = [first].into_iter().chain(others).collect();
                return Err(unreadable::refusal(&unreadable, files.len()).into());
            }
        }
    }
    Ok(columns)
}

/// One file's run, kept nowhere.
pub(crate) fn record(path: &Path) -> anyhow::Result<RunRecord> {
    let name = path.display().to_string();
    let mut assembler = Assembler::new(meta(RunId(name.clone())));
    let mut trials = Vec::new();
    read_all(&[name], &Options::default(), &mut assembler, &mut |done| {
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
    let mut input = open(name)?;
    assembler.file(&input.name);
    let mut report = read_file(&mut input, options, &mut |found| {
        assembler.take(found).into_iter().try_for_each(&mut *keep)?;
        bounded(assembler.within_bounds())
    })?;
    let columns = std::mem::take(&mut report.columns);
    assembler.read(report);
    Ok(columns)
}

/// Reads an open file to its end.
fn read_file(
    input: &mut Input,
    options: &Options,
    each: &mut dyn FnMut(ImportedTest) -> anyhow::Result<()>,
) -> anyhow::Result<FileReport> {
    ::import::read(&input.name, &mut *input.lines, options, each).map_err(|error| match error {
        ImportError::Keep(error) => error,
        error => UnreadableFile::of(&error).into(),
    })
}

fn bounded(bounds: Result<(), TooManyCells>) -> anyhow::Result<()> {
    bounds.map_err(|error| Misuse::new(error.to_string()).hint("nothing was imported").into())
}

/// An open file.
struct Input {
    /// What it is called.
    name: String,
    lines: Box<dyn BufRead>,
}

fn open(name: &str) -> anyhow::Result<Input> {
    let unreadable = |why| UnreadableFile { why, is_unknown: false };
    if name == "-" {
        let lines = Box::new(BufReader::with_capacity(CHUNK, stdin().lock()));
        return Ok(Input { name: "standard input".to_owned(), lines });
    }
    let file = File::open(name).map_err(|error| unreadable(format!("cannot open {name}: {error}")))?;
    if file.metadata().is_ok_and(|file| file.is_dir()) {
        return Err(unreadable(format!("{name} is a folder: name the files in it")).into());
    }
    Ok(Input { name: name.to_owned(), lines: Box::new(BufReader::with_capacity(CHUNK, file)) })
}

fn name(name: &str) -> anyhow::Result<String> {
    let sign = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.');
    if ["latest", "baseline"].contains(&name) {
        let taken = Misuse::new(format!("`{name}` is no name for a run: it means another one"));
        return Err(taken
            .hint("`latest` is the newest run, a baseline's name one that was kept under it")
            .into());
    }
    if name.is_empty() || name.len() > 64 || !name.chars().all(sign) {
        let wrong = Misuse::new(format!("`{name}` is no name for a run"));
        return Err(wrong.hint("use up to 64 letters, digits, `-`, `_` and `.`").into());
    }
    Ok(name.to_owned())
}
