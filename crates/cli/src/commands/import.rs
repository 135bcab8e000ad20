//! `plumb import`: turns logs of other tools into a run, all or nothing.

mod summary;
mod unreadable;

use std::{
    collections::BTreeSet,
    fs::File,
    io::{BufRead, BufReader, IsTerminal, stdin, stdout},
    path::Path,
};

use ::import::{Assembler, Done, FileReport, ImportError, ImportedTest, Meta, Options, TooManyResults};
use anyhow::Context;
use clap::Args;
use jiff::Timestamp;
use samples::{RunHeader, RunId, RunRecord, UnixMillis};

use self::{summary::Summary, unreadable::UnreadableFile};
use super::{TOOL, report};
use crate::{exit::Exit, failure::Misuse, global_flags::GlobalFlags, output, remedy_results, store_path};

/// Maximum number of columns listed in an error.
const NAMED: usize = 40;

/// Maximum number of results with a printed summary, which compares all of them.
const MAX_SUMMARY: usize = 1000;

/// Read buffer size in bytes.
const CHUNK: usize = 64 << 10;

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Logs and tables of other tools, possibly within other text; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The run's title, which applies to all tests like a heading: "with vhost + Host->VM"
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
    /// Merge tests with equal settings from different files into one result, instead of treating the file
    /// as a factor
    #[arg(long)]
    together: bool,
    /// Also import tables from files with the tools' own logs, which the tables usually repeat
    #[arg(long)]
    tables: bool,
    /// Skip unreadable files and report why, instead of importing nothing
    #[arg(long)]
    skip_unreadable: bool,
    /// Print only the run's name
    #[arg(long, short)]
    quiet: bool,
}

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
    let mut summary = Summary::new(args.quiet);
    let mut assembler = Assembler::new(meta);
    let name = assembler.header().id;
    let mut header = None;
    let files = readable(args, &options, &mut assembler)?;
    let stored = store.import(&name, |importing| -> anyhow::Result<RunHeader> {
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

fn readable(args: &ImportArgs, options: &Options, assembler: &mut Assembler) -> anyhow::Result<Vec<String>> {
    if !args.skip_unreadable {
        return Ok(args.files.clone());
    }
    let (names, left_out): (Vec<String>, Vec<UnreadableFile>) =
        unreadable::unreadable_files(&args.files, options)?.into_iter().unzip();
    if left_out.len() == args.files.len() {
        return Err(unreadable::refusal(&left_out, args.files.len()).into());
    }
    left_out.iter().for_each(|file| assembler.left_out(&file.reason));
    Ok(args.files.iter().filter(|name| !names.contains(name)).cloned().collect())
}

/// Reads every file and returns the column headings. An error names all unreadable files.
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
                let others =
                    unreadable::unreadable_files(&files[at..], options)?.into_iter().map(|(_, file)| file);
                let unreadable: Vec<UnreadableFile> = [first].into_iter().chain(others).collect();
                return Err(unreadable::refusal(&unreadable, files.len()).into());
            }
        }
    }
    Ok(columns)
}

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

fn check_columns(options: &Options, columns: &BTreeSet<String>) -> anyhow::Result<()> {
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

/// Reads one file, passes complete tests to `keep`, and returns the column headings of its tables.
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

fn bounded(bounds: Result<(), TooManyResults>) -> anyhow::Result<()> {
    bounds.map_err(|error| Misuse::new(error.to_string()).hint("nothing was imported").into())
}

struct Input {
    name: String,
    lines: Box<dyn BufRead>,
}

fn open(name: &str) -> anyhow::Result<Input> {
    let unreadable = |reason| UnreadableFile { reason, is_unknown: false };
    if name == "-" {
        let lines = Box::new(BufReader::with_capacity(CHUNK, stdin().lock()));
        return Ok(Input { name: "standard input".to_owned(), lines });
    }
    let file = File::open(name).map_err(|error| unreadable(format!("cannot open {name}: {error}")))?;
    if file.metadata().is_ok_and(|file| file.is_dir()) {
        return Err(unreadable(format!("{name} is a directory; specify the files in it")).into());
    }
    Ok(Input { name: name.to_owned(), lines: Box::new(BufReader::with_capacity(CHUNK, file)) })
}

fn name(name: &str) -> anyhow::Result<String> {
    let sign = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.');
    if ["latest", "baseline"].contains(&name) {
        let taken = Misuse::new(format!("invalid run name `{name}`: it refers to another run"));
        return Err(taken.hint("`latest` is the newest run, and baseline names are reserved").into());
    }
    if name.is_empty() || name.len() > 64 || !name.chars().all(sign) {
        let wrong = Misuse::new(format!("invalid run name `{name}`"));
        return Err(wrong.hint("use up to 64 letters, digits, `-`, `_` and `.`").into());
    }
    Ok(name.to_owned())
}
