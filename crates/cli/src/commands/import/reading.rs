//! Reads logs from other tools. If several files cannot be imported, reports all of them together.

use std::{
    collections::BTreeSet,
    fmt,
    fs::{self, File},
    io::{BufRead, BufReader, stdin},
    path::Path,
};

use ::import::{
    Assembler, Done, FileReport, ImportError, ImportedTest, KNOWN, Meta, Options, TooManyResults,
};
use anyhow::Result;
use samples::{RunId, RunRecord};

use crate::{failure::Misuse, program::TOOL};

#[derive(Debug)]
pub(super) struct UnreadableFile {
    pub(super) reason: String,
    pub(super) is_unknown: bool,
}

impl fmt::Display for UnreadableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for UnreadableFile {}

impl UnreadableFile {
    pub(super) fn of<E: fmt::Display>(error: &ImportError<E>) -> Self {
        let is_unknown = matches!(error, ImportError::Nothing { is_known: false, .. });
        Self { reason: error.to_string(), is_unknown }
    }
}

/// Skips pipes and other inputs that can only be read once.
pub(super) fn unreadable_files(files: &[String], options: &Options) -> Result<Vec<(String, UnreadableFile)>> {
    let mut found = Vec::new();
    for name in files.iter().filter(|name| !is_read_once(name)) {
        let read = open(name).and_then(|mut input| read_file(&mut input, options, &mut |_| Ok(())));
        match read.map_err(|error| error.downcast::<UnreadableFile>()) {
            Ok(_) => {}
            Err(Ok(unreadable)) => found.push((name.clone(), unreadable)),
            Err(Err(error)) => return Err(error),
        }
    }
    Ok(found)
}

fn is_read_once(name: &str) -> bool {
    name == "-" || fs::metadata(name).is_ok_and(|file| !file.is_file() && !file.is_dir())
}

pub(super) fn refusal(unreadable: &[UnreadableFile], of: usize) -> Misuse {
    let reasons: Vec<String> = unreadable.iter().map(|file| format!("\n  {file}")).collect();
    let message = match unreadable {
        [one] => one.to_string(),
        several => format!("cannot import {} of {of} files:{}", several.len(), reasons.concat()),
    };
    let mut hint = "nothing was imported".to_owned();
    if unreadable.len() < of {
        hint += "; --skip-unreadable imports the other files";
    }
    if unreadable.iter().any(|file| file.is_unknown) {
        hint = format!("{hint}; supported formats: {KNOWN}; for plumb's own runs, use `plumb runs import`");
    }
    Misuse::new(message).hint(hint)
}

const CHUNK: usize = 64 << 10;

pub(super) fn read_all(
    files: &[String],
    options: &Options,
    assembler: &mut Assembler,
    keep: &mut dyn FnMut(Done) -> Result<()>,
) -> Result<BTreeSet<String>> {
    let mut columns = BTreeSet::new();
    for (name, at) in files.iter().zip(1..) {
        match read(name, options, assembler, keep).map_err(|error| error.downcast::<UnreadableFile>()) {
            Ok(mut of_file) => columns.append(&mut of_file),
            Err(Err(error)) => return Err(error),
            Err(Ok(first)) => {
                let others = unreadable_files(&files[at..], options)?.into_iter().map(|(_, file)| file);
                let unreadable: Vec<UnreadableFile> = [first].into_iter().chain(others).collect();
                return Err(refusal(&unreadable, files.len()).into());
            }
        }
    }
    Ok(columns)
}

pub(crate) fn record(path: &Path) -> Result<RunRecord> {
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

pub(super) fn meta(id: RunId) -> Meta {
    Meta {
        id,
        name: "import".to_owned(),
        title: None,
        tool: TOOL.to_owned(),
        now: watch::now(),
        together: false,
        tables: false,
    }
}

fn read(
    name: &str,
    options: &Options,
    assembler: &mut Assembler,
    keep: &mut dyn FnMut(Done) -> Result<()>,
) -> Result<BTreeSet<String>> {
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
    each: &mut dyn FnMut(ImportedTest) -> Result<()>,
) -> Result<FileReport> {
    ::import::read(&input.name, &mut *input.lines, options, each).map_err(|error| match error {
        ImportError::Keep(error) => error,
        error => UnreadableFile::of(&error).into(),
    })
}

pub(super) fn bounded(bounds: Result<(), TooManyResults>) -> Result<()> {
    bounds.map_err(|error| Misuse::new(error.to_string()).hint("nothing was imported").into())
}

struct Input {
    name: String,
    lines: Box<dyn BufRead>,
}

fn open(name: &str) -> Result<Input> {
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
