//! `plumb import`: other tools' logs become a run, whole or not at all.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{BufRead, BufReader, stdin},
    ops::RangeInclusive,
    path::Path,
};

use ::import::{Assembler, Done, ImportError, KNOWN, Meta, Options, TooManyCells};
use anyhow::Context;
use clap::Args;
use jiff::Timestamp;
use samples::{RunHeader, RunId, RunRecord, UnixMillis};
use store::{Store, StoreError};

use super::TOOL;
use crate::{exit::Exit, failure::Misuse, kept, say, shared::Shared};

/// Lines about tests; of more only the number.
const TOLD: u32 = 40;

/// What a row of a table says of itself.
const TABLE: &str = "a table";

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
pub(crate) fn run(args: &ImportArgs, shared: &Shared) -> anyhow::Result<Exit> {
    let mut store = kept::open(shared.db.as_deref())?;
    let meta = Meta {
        name: name(&args.name)?,
        title: args.title.clone(),
        together: args.together,
        tables: args.tables,
        ..meta(free_id(&args.name, &store)?)
    };
    let options = Options { factors: args.factor.clone(), metrics: args.metric.clone() };
    let mut told = Told { quiet: args.quiet, ..Told::default() };
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
    told.end(&RunHeader { id: kept, ..header })?;
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
    Ok(RunRecord { header: assembled.header, trials, skipped: Vec::new(), ends: Vec::new() })
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
    let shown: Vec<&str> = columns.iter().map(String::as_str).take(40).collect();
    let hint = if shown.is_empty() {
        "there is no table; nothing was imported".to_owned()
    } else {
        format!("the columns are: {}; nothing was imported", shown.join(", "))
    };
    Err(Misuse::new(format!("no table has a column `{first}`")).hint(say::harmless(&hint).to_string()).into())
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

/// Name and time, or with a number behind it when another run of the same second has it already.
fn free_id(name: &str, store: &Store) -> Result<RunId, StoreError> {
    let wanted = format!("{name}-{}", Timestamp::now().strftime("%Y%m%d-%H%M%S"));
    let runs = store.runs()?;
    let numbered = (2..).map(|number| format!("{wanted}-{number}"));
    let id = std::iter::once(wanted.clone()).chain(numbered).map(RunId);
    let is_free = |id: &RunId| !runs.iter().any(|run| run.id == *id);
    Ok(id.into_iter().find(is_free).unwrap_or(RunId(wanted)))
}

/// What is said about the tests that were found.
#[derive(Default)]
struct Told {
    quiet: bool,
    tests: usize,
    lines: u32,
    /// Of a test of which no line was said.
    untold: usize,
    /// A table whose rows are coming in.
    table: Option<Table>,
}

/// Rows of one table: one line says them all.
struct Table {
    lines: RangeInclusive<u64>,
    title: String,
    rows: usize,
    /// The cell of the first row.
    cell: String,
}

impl Told {
    fn test(&mut self, done: &Done) -> std::io::Result<()> {
        self.tests += 1;
        if self.quiet {
            return Ok(());
        }
        let title = done.title.last().map_or_else(|| "no heading".to_owned(), |title| format!("\"{title}\""));
        let (first, last) = (*done.lines.start(), *done.lines.end());
        if done.what != TABLE {
            self.end_table()?;
            return self.line(&done.lines, &done.what, &title, &done.trial.cell, 1);
        }
        if let Some(table) = &mut self.table
            && table.title == title
            && (first == table.lines.end() + 1 || table.lines == done.lines)
        {
            table.lines = *table.lines.start()..=last;
            table.rows += 1;
            return Ok(());
        }
        self.end_table()?;
        self.table = Some(Table { lines: done.lines.clone(), title, rows: 1, cell: done.trial.cell.clone() });
        Ok(())
    }

    fn end_table(&mut self) -> std::io::Result<()> {
        let Some(table) = self.table.take() else { return Ok(()) };
        let (what, cell) = if table.rows == 1 {
            (TABLE.to_owned(), table.cell)
        } else {
            (format!("{TABLE}, {} rows", table.rows), format!("{} and so on", table.cell))
        };
        self.line(&table.lines, &what, &table.title, &cell, table.rows)
    }

    fn line(
        &mut self,
        lines: &RangeInclusive<u64>,
        what: &str,
        title: &str,
        cell: &str,
        tests: usize,
    ) -> std::io::Result<()> {
        if self.lines == TOLD {
            self.untold += tests;
            return Ok(());
        }
        self.lines += 1;
        let (first, last) = (lines.start(), lines.end());
        let text = format!("lines {first:>5} to {last:>5}  {what}  {title}  as {cell}");
        say::line(say::harmless(&text))
    }

    fn end(&mut self, header: &RunHeader) -> std::io::Result<()> {
        if self.quiet {
            return say::line(&header.id);
        }
        self.end_table()?;
        if self.untold > 0 {
            say::line(format_args!("... and {} more", self.untold))?;
        }
        let record = header.origin.imported().cloned().unwrap_or_default();
        for file in &record.files {
            let (name, formats) = (say::harmless(&file.name), file.formats.join(", "));
            let lines = counted(usize::try_from(file.lines).unwrap_or(usize::MAX), "line");
            say::line(format_args!("{name}: {formats} in {lines}"))?;
        }
        for note in &record.notes {
            say::aside(format_args!("note: {}", say::harmless(note)));
        }
        let (id, cells) = (&header.id, counted(header.cells.len(), "cell"));
        let trials = counted(self.tests, "trial");
        say::line(format_args!("imported {trials} in {cells} as {id}; `plumb report {id}` shows them"))
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
