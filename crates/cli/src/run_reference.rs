//! A run as it is named to be compared: one that is kept, a baseline, or a file. Must not know what comparing is.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
};

use anyhow::{Context, anyhow};
use samples::{ReadError, RunRecord};
use serde::{Deserialize, de::IgnoredAny};
use store::{RunListing, Store, StoreError};

use crate::{
    bounded_file, commands::import, evidence, failure::Misuse, global_flags::GlobalFlags, store_path,
};

/// The noise between runs is learned from so many further ones at most: older ones are of an older machine.
const MOST_OTHERS: usize = 10;

/// Where named runs are looked up; the store is opened when the first one needs it.
pub(crate) struct References<'a> {
    shared: &'a GlobalFlags,
    store: Option<Store>,
}

impl<'a> References<'a> {
    pub(crate) fn new(shared: &'a GlobalFlags) -> Self {
        Self { shared, store: None }
    }

    /// The run that `text` means: a file that is there, else a run's name, its beginning, `latest`,
    /// `latest:SCENARIO` or `baseline:NAME`.
    pub(crate) fn load(&mut self, text: &str) -> anyhow::Result<RunRecord> {
        if let Some(record) = in_file(text)? {
            return Ok(record);
        }
        let store = self.store()?;
        match store.resolve(text) {
            Ok(id) => Ok(store.load(&id)?),
            Err(StoreError::Unknown { .. }) if text.contains(['/', '.']) => {
                let message = format!("there is no file {text}, and no run is called so");
                Err(Misuse::new(message).hint("`plumb runs list` shows the runs that are kept").into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The run that a baseline's name stands for; where there is no such baseline, what [`Self::load`] makes of it.
    pub(crate) fn baseline(&mut self, text: &str) -> anyhow::Result<RunRecord> {
        let store = self.store()?;
        match store.baseline(text) {
            Ok(id) => Ok(store.load(&id)?),
            Err(StoreError::NoBaseline { hint, .. }) => self.load(text).map_err(|error| {
                // The user may have meant either: what there is of both is told, once.
                match error.downcast_ref() {
                    Some(StoreError::Unknown { hint: runs, .. }) => {
                        anyhow!("no baseline and no run is called `{text}`; {hint}; of the runs, {runs}")
                    }
                    _ => error,
                }
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// The newest further runs of A's scenario, from the store that a run was looked up in; none where both are files.
    ///
    /// What cannot be read is left out: to learn less of the noise is no failure.
    pub(crate) fn others(&self, a: &RunRecord, b: &RunRecord) -> anyhow::Result<Vec<RunRecord>> {
        self.store.as_ref().map_or_else(|| Ok(Vec::new()), |store| others(store, a, b, |_| true))
    }

    fn store(&mut self) -> anyhow::Result<&mut Store> {
        Ok(match &mut self.store {
            Some(store) => store,
            none => none.insert(store_path::open(self.shared.db.as_deref())?),
        })
    }
}

/// The same from a store, in which both runs need not be, of the runs that count.
pub(crate) fn others(
    store: &Store,
    a: &RunRecord,
    b: &RunRecord,
    counts: impl Fn(&RunListing) -> bool,
) -> anyhow::Result<Vec<RunRecord>> {
    let digest = &a.header.scenario.digest;
    if digest.is_empty() || a.header.origin.imported().is_some() {
        return Ok(Vec::new());
    }
    let listed = store.runs_of(digest)?;
    let others = listed.iter().filter(|run| ![&a.header.id, &b.header.id].contains(&&run.id) && counts(run));
    Ok(others.filter_map(|run| store.load(&run.id).ok()).take(MOST_OTHERS).collect())
}

/// The run in a file that is there; `None` of the name of one that is kept.
pub(crate) fn in_file(text: &str) -> anyhow::Result<Option<RunRecord>> {
    let path = Path::new(text);
    (!is_never_a_file(text) && path.is_file()).then(|| read(path)).transpose()
}

fn is_never_a_file(text: &str) -> bool {
    text == "latest" || text.starts_with("latest:") || text.starts_with("baseline:")
}

fn read(path: &Path) -> anyhow::Result<RunRecord> {
    match record_in(path)? {
        Some(record) => Ok(record),
        None => import::record(path),
    }
}

/// The record of a run in a file: alone, packed, or in the page that reports it; `None` of a file of another kind.
pub(crate) fn record_in(path: &Path) -> anyhow::Result<Option<RunRecord>> {
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
            // Tables of a write-up may be HTML as well.
            if inside.is_none() && !is_page(&text) {
                return Ok(None);
            }
            let none = || Misuse::new(format!("{name} is a page without a run's record in it"));
            let text = inside
                .ok_or_else(|| none().hint("pages that `plumb report -o page.html` writes have one"))?;
            record(path, &text)?.with_context(|| format!("the record in {name} is none of a run")).map(Some)
        }
        Some(b'{') => record(path, &bounded_file::read_ours(input).with_context(cannot)?),
        _ => Ok(None),
    }
}

/// Whether a text is a page for a browser, and no table alone.
fn is_page(text: &str) -> bool {
    let begin: String = text.trim_start().chars().take(9).collect::<String>().to_ascii_lowercase();
    begin.starts_with("<!doctype") || begin.starts_with("<html")
}

/// The first character that is no space; spaces before it are skipped.
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

/// What a document is, readable whatever its shape.
#[derive(Debug, Deserialize)]
struct Peek {
    header: Option<IgnoredAny>,
    schema: Option<u32>,
}

/// The run record in a JSON text; `None` for a document of another kind.
fn record(path: &Path, text: &str) -> anyhow::Result<Option<RunRecord>> {
    let name = path.display();
    let peek = match serde_json::from_str::<Peek>(text) {
        Ok(peek) => peek,
        Err(error) if begins_like_a_record(text) => {
            return Err(error).with_context(|| format!("cannot read the run record {name}"));
        }
        Err(_) => return Ok(None),
    };
    match peek {
        Peek { header: Some(_), .. } => RunRecord::read(text).map(Some).map_err(|error| match error {
            ReadError::Newer { .. } => Misuse::new(format!("cannot read the run record {name}: {error}"))
                .hint("read it with that plumb or a later one")
                .into(),
            ReadError::Malformed(error) => {
                anyhow::Error::new(error).context(format!("{name} says that it is a run record, and is not"))
            }
        }),
        Peek { schema: Some(_), .. } => {
            let message = format!("{name} is a report, which holds no trials: no run can be compared by it");
            Err(Misuse::new(message).hint("`plumb report RUN --format raw` writes a run's record").into())
        }
        Peek { .. } => Ok(None),
    }
}

/// A record begins with its header; one that was cut off still does.
fn begins_like_a_record(text: &str) -> bool {
    let inside = text.trim_start().strip_prefix('{').unwrap_or_default();
    inside.trim_start().starts_with("\"header\"")
}

#[cfg(test)]
mod tests {
    use samples::SCHEMA;

    use super::*;

    fn check(text: &str, said: &str) {
        let error = record(Path::new("a.json"), text).expect_err("is no record");
        let all = format!("{error:#}");
        assert!(all.contains("a.json") && all.contains(said), "{text}: {all}");
    }

    #[test]
    fn a_document_that_is_no_run_record_is_called_what_it_is() {
        check(r#"{"header":{"schema":99,"tool":"9.0.9"},"trials":[]}"#, "shape 99, written by plumb 9.0.9");
        check(r#"{"header":{"schema":1,"tool":"0.0.9"},"trials":[]}"#, "and is not");
        check(r#"{"schema":3,"run":{}}"#, "is a report");
        check(&format!(r#"{{"header":{{"schema":{SCHEMA},"tool":"x"}}}}"#), "and is not");
        check(r#"{"header":"#, "EOF");
    }

    #[test]
    fn a_document_of_another_tool_is_left_to_the_importers() {
        for text in [r#"{"start":{"version":"iperf 3.12"}}"#, "{}", "{}{}", "{ truncated"] {
            let read = record(Path::new("a.json"), text);
            assert!(read.is_ok_and(|read| read.is_none()), "{text}");
        }
    }

    #[test]
    fn a_write_up_that_begins_with_a_table_is_no_page() {
        assert!(!is_page("<table><tr><td>1</td></tr></table>"));
        assert!(is_page("\n<!DOCTYPE html>") && is_page("<html lang=\"en\">"));
    }

    #[test]
    fn names_of_the_store_are_never_files() {
        assert!(["latest", "latest:quick", "baseline:main"].into_iter().all(is_never_a_file));
        assert!(!["latest.json", "quick-2026", "./latest"].into_iter().any(is_never_a_file));
    }
}
