//! Loads built-in scenarios, scenario files, and the scenarios of stored runs.

use std::{io::ErrorKind, path::Path};

use anyhow::Result;
use scenario::{Scenario, builtin};

use crate::{bounded_file, failure::Misuse, global_flags::GlobalFlags, store_path, variants::Variants};

pub(crate) struct Source {
    pub(crate) scenario: Scenario,
    pub(crate) text: String,
}

pub(crate) fn load(name: &str, shared: &GlobalFlags) -> Result<Source> {
    load_variant(name, &Variants::default(), shared)
}

/// Applies variants to the text, so that a stored run contains the resulting scenario.
pub(crate) fn load_variant(name: &str, variants: &Variants, shared: &GlobalFlags) -> Result<Source> {
    let (source_name, plain) = text(name, shared)?;
    let scenario = Scenario::parse(&source_name, &plain)?;
    let (source_name, text) = variants.of(&source_name, &plain, &scenario)?;
    let scenario = if text == plain { scenario } else { Scenario::parse(&source_name, &text)? };
    Ok(Source { scenario, text })
}

/// Returns the scenario's text, and its name for messages. Searches built-in scenarios, then runs, then files
/// with `.toml` appended to the name.
pub(crate) fn text(name: &str, shared: &GlobalFlags) -> Result<(String, String)> {
    let looks_like_a_file = name.contains('/') || Path::new(name).extension().is_some();
    if !looks_like_a_file {
        let file = format!("{name}.toml");
        if let Some(builtin) = builtin::find(name) {
            return Ok((format!("{name} (built-in)"), builtin.text.to_owned()));
        }
        if let Some(text) = of_run(name, shared)? {
            return Ok((format!("scenario of {name}"), text));
        }
        if Path::new(&file).exists() {
            return read(file);
        }
        let unknown = Misuse::new(format!("no built-in scenario or run `{name}`, and no file {file}"));
        return Err(match builtin::suggest(name) {
            Some(meant) => unknown.hint(format!(
                "did you mean `{meant}`? `plumb scenario list` lists all \
                built-in scenarios"
            )),
            None => unknown.hint(
                "`plumb scenario list` lists the built-in scenarios; for a file, use a path, e.g. \
                    ./mine.toml",
            ),
        }
        .into());
    }
    read(name.to_owned())
}

fn read(file: String) -> Result<(String, String)> {
    let text = bounded_file::read(Path::new(&file)).map_err(|error| {
        let misuse = Misuse::new(format!("cannot read scenario file {file}: {error}"));
        match error.kind() {
            ErrorKind::NotFound => misuse.hint(
                "for a built-in scenario, use a name without a dot or slash: `plumb scenario \
                    list`",
            ),
            _ => misuse,
        }
    })?;
    Ok((file, text))
}

/// Accepts a run's full name, `latest` or `latest:SCENARIO`. Does not accept a prefix, because it may be a
/// mistyped built-in name.
fn of_run(name: &str, shared: &GlobalFlags) -> Result<Option<String>> {
    let Some(store) = store_path::open_existing(shared.db.as_deref())? else { return Ok(None) };
    let run = if name == "latest" || name.starts_with("latest:") {
        Some(store.resolve(name)?)
    } else {
        store.runs()?.into_iter().map(|run| run.id).find(|id| id.0 == name)
    };
    let Some(run) = run else { return Ok(None) };
    let scenario = store.load(&run)?.header.scenario;
    match scenario.command() {
        Some(command) => Err(Misuse::new(format!("{name} has no scenario"))
            .hint(format!("repeat it with `{command}`"))
            .into()),
        None if scenario.text.is_empty() => {
            Err(Misuse::new(format!("{name} was imported and has no scenario to measure")).into())
        }
        None => Ok(Some(scenario.text)),
    }
}
