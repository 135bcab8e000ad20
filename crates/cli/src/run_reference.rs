//! Resolves the run that a command refers to: a stored run, a baseline, or a file.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
};

use anyhow::{Context, Result, anyhow};
use findings::Findings;
use samples::{ReadError, RunRecord};
use serde::{Deserialize, de::IgnoredAny};
use store::{Store, StoreError};

use crate::{
    bounded_file, commands::import::reading, evidence, failure::Misuse, global_flags::GlobalFlags,
    remedy_results, store_path,
};

pub(crate) struct References<'a> {
    shared: &'a GlobalFlags,
    store: Option<Store>,
}

impl<'a> References<'a> {
    pub(crate) fn new(shared: &'a GlobalFlags) -> Self {
        Self { shared, store: None }
    }

    /// `text` may be the path of an existing file, a run's name or prefix, `latest`, `latest:SCENARIO` or
    /// `baseline:NAME`.
    pub(crate) fn load(&mut self, text: &str) -> Result<RunRecord> {
        if let Some(record) = in_file(text)? {
            return Ok(record);
        }
        let store = self.store()?;
        match store.resolve(text) {
            Ok(id) => Ok(store.load(&id)?),
            Err(StoreError::Unknown { .. }) if text.contains(['/', '.']) => {
                let message = format!("no such file {text}, and no run with this name");
                Err(Misuse::new(message).hint("`plumb runs list` shows the stored runs").into())
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn baseline(&mut self, text: &str) -> Result<RunRecord> {
        let store = self.store()?;
        match store.baseline(text) {
            Ok(id) => Ok(store.load(&id)?),
            Err(StoreError::NoBaseline { hint, .. }) => self.load(text).map_err(|error| {
                // The user may have meant a baseline or a run, so the error lists both.
                match error.downcast_ref() {
                    Some(StoreError::Unknown { hint: runs, .. }) => {
                        anyhow!("no baseline or run `{text}`; {hint}; runs: {runs}")
                    }
                    _ => error,
                }
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the newest stored runs of A's scenario, except A and B. Returns none if both A and B are files.
    ///
    /// Skips unreadable runs, because the returned runs only refine the noise estimate.
    pub(crate) fn others(&self, a: &RunRecord, b: &RunRecord) -> Result<Vec<RunRecord>> {
        let others = self.store.as_ref().map(|store| store.others(a, b, |_| true)).transpose()?;
        Ok(others.unwrap_or_default())
    }

    fn store(&mut self) -> Result<&mut Store> {
        Ok(match &mut self.store {
            Some(store) => store,
            none => none.insert(store_path::open(self.shared.db.as_deref())?),
        })
    }
}

pub(crate) fn analysed(text: &str, shared: &GlobalFlags) -> Result<(RunRecord, Findings)> {
    if let Some(record) = in_file(text)? {
        let findings = analysis::analyse(&record);
        return Ok((record, findings));
    }
    let store = store_path::open(shared.db.as_deref())?;
    remedy_results::findings(&store, store.load(&store.resolve(text)?)?)
}

pub(crate) fn in_file(text: &str) -> Result<Option<RunRecord>> {
    let path = Path::new(text);
    (!is_never_a_file(text) && path.is_file()).then(|| read(path)).transpose()
}

fn is_never_a_file(text: &str) -> bool {
    text == "latest" || text.starts_with("latest:") || text.starts_with("baseline:")
}

fn read(path: &Path) -> Result<RunRecord> {
    match record_in(path)? {
        Some(record) => Ok(record),
        None => reading::record(path),
    }
}

pub(crate) fn record_in(path: &Path) -> Result<Option<RunRecord>> {
    let name = path.display();
    let cannot = || format!("cannot read {name}");
    let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
    let mut input = BufReader::new(file);
    if input.fill_buf().with_context(cannot)?.starts_with(&evidence::MAGIC) {
        let text = evidence::unpack(input).with_context(|| format!("{name} is damaged"))?;
        return record(path, &text);
    }
    match first_character(&mut input).with_context(cannot)? {
        Some(b'<') => {
            let text = bounded_file::read_ours(input).with_context(cannot)?;
            let inside = evidence::extract(&text).with_context(cannot)?;
            // An HTML file that is not a report may still contain tables to import.
            if inside.is_none() && !is_page(&text) {
                return Ok(None);
            }
            let none = || Misuse::new(format!("{name} is a page without an embedded run record"));
            let text =
                inside.ok_or_else(|| none().hint("use a page written by `plumb report -o page.html`"))?;
            record(path, &text)?
                .with_context(|| format!("the record in {name} is not a run record"))
                .map(Some)
        }
        Some(b'{') => record(path, &bounded_file::read_ours(input).with_context(cannot)?),
        _ => Ok(None),
    }
}

fn is_page(text: &str) -> bool {
    let begin: String = text.trim_start().chars().take(9).collect::<String>().to_ascii_lowercase();
    begin.starts_with("<!doctype") || begin.starts_with("<html")
}

fn first_character(input: &mut impl BufRead) -> std::io::Result<Option<u8>> {
    loop {
        let buffer = input.fill_buf()?;
        let Some(first) = buffer.first().copied() else { return Ok(None) };
        if !first.is_ascii_whitespace() {
            return Ok(Some(first));
        }
        input.consume(1);
    }
}

#[derive(Debug, Deserialize)]
struct Peek {
    header: Option<IgnoredAny>,
    schema: Option<u32>,
}

fn record(path: &Path, text: &str) -> Result<Option<RunRecord>> {
    let name = path.display();
    let peek = match serde_json::from_str::<Peek>(text) {
        Ok(peek) => peek,
        Err(error) if starts_like_a_record(text) => {
            return Err(error).with_context(|| format!("cannot read the run record {name}"));
        }
        Err(_) => return Ok(None),
    };
    match peek {
        Peek { header: Some(_), .. } => RunRecord::read(text).map(Some).map_err(|error| match error {
            ReadError::Unsupported { .. } => {
                Misuse::new(format!("cannot read the run record {name}: {error}"))
                    .hint("use the version of plumb that wrote it")
                    .into()
            }
            ReadError::Malformed(error) => {
                anyhow::Error::new(error).context(format!("{name} claims to be a run record, but is not"))
            }
        }),
        Peek { schema: Some(_), .. } => {
            let message = format!("{name} is a report without trials and cannot be compared");
            Err(Misuse::new(message).hint("`plumb report RUN --format raw` writes a run record").into())
        }
        Peek { .. } => Ok(None),
    }
}

/// Recognises even a truncated record, because a record starts with its header.
fn starts_like_a_record(text: &str) -> bool {
    let inside = text.trim_start().strip_prefix('{').unwrap_or_default();
    inside.trim_start().starts_with("\"header\"")
}

#[cfg(test)]
mod tests {
    use samples::SCHEMA;

    use super::*;

    fn check(text: &str, expected: &str) {
        let error = record(Path::new("a.json"), text).expect_err("not a record");
        let all = format!("{error:#}");
        assert!(all.contains("a.json") && all.contains(expected), "{text}: {all}");
    }

    #[test]
    fn describes_documents_other_than_run_records() {
        check(r#"{"header":{"schema":99,"tool":"9.0.9"},"trials":[]}"#, "schema 99, written by plumb 9.0.9");
        check(r#"{"header":{"schema":0,"tool":"0.0.9"},"trials":[]}"#, "schema 0, written by plumb 0.0.9");
        check(r#"{"schema":1,"run":{}}"#, "is a report");
        check(&format!(r#"{{"header":{{"schema":{SCHEMA},"tool":"x"}}}}"#), "but is not");
        check(r#"{"header":"#, "EOF");
    }

    #[test]
    fn leaves_other_tools_documents_to_importers() {
        for text in [r#"{"start":{"version":"iperf 3.12"}}"#, "{}", "{}{}", "{ truncated"] {
            let read = record(Path::new("a.json"), text);
            assert!(read.is_ok_and(|read| read.is_none()), "{text}");
        }
    }

    #[test]
    fn html_starting_with_table_is_not_a_page() {
        assert!(!is_page("<table><tr><td>1</td></tr></table>"));
        assert!(is_page("\n<!DOCTYPE html>") && is_page("<html lang=\"en\">"));
    }

    #[test]
    fn reserved_names_are_never_files() {
        assert!(["latest", "latest:quick", "baseline:main"].into_iter().all(is_never_a_file));
        assert!(!["latest.json", "quick-2026", "./latest"].into_iter().any(is_never_a_file));
    }
}
