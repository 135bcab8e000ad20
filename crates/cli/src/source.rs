//! Where a scenario comes from: a built-in by its name, a file, or a run that is kept.

use std::{io::ErrorKind, path::Path};

use scenario::{Scenario, builtin};

use crate::{bounded_file, failure::Misuse, global_flags::GlobalFlags, store_path, variants::Variants};

/// A scenario with its text.
pub(crate) struct Source {
    pub(crate) scenario: Scenario,
    pub(crate) text: String,
}

/// Finds and checks the scenario that `name` means: a path to a file, a built-in's name, or a run's.
pub(crate) fn load(name: &str, shared: &GlobalFlags) -> anyhow::Result<Source> {
    load_variant(name, &Variants::default(), shared)
}

/// The same with variants laid over it. They are a part of the text, so that a run that keeps it needs nothing else.
pub(crate) fn load_variant(name: &str, variants: &Variants, shared: &GlobalFlags) -> anyhow::Result<Source> {
    let (source_name, plain) = text(name, shared)?;
    let scenario = Scenario::parse(&source_name, &plain)?;
    let (source_name, text) = variants.of(&source_name, &plain, &scenario)?;
    let scenario = if text == plain { scenario } else { Scenario::parse(&source_name, &text)? };
    Ok(Source { scenario, text })
}

/// The text that `name` means, and what to call it in messages.
pub(crate) fn text(name: &str, shared: &GlobalFlags) -> anyhow::Result<(String, String)> {
    let looks_like_a_file = name.contains('/') || Path::new(name).extension().is_some();
    if !looks_like_a_file {
        if let Some(builtin) = builtin::find(name) {
            return Ok((format!("{name} (built-in)"), builtin.text.to_owned()));
        }
        if let Some(text) = of_run(name, shared)? {
            return Ok((format!("scenario of {name}"), text));
        }
        let unknown = Misuse::new(format!("there is no built-in scenario `{name}`, and no run is called so"));
        return Err(match builtin::suggest(name) {
            Some(meant) => unknown.hint(format!("did you mean `{meant}`? `plumb scenario list` shows all")),
            None => unknown
                .hint("`plumb scenario list` shows all; a file is named with its path, as in ./mine.toml"),
        }
        .into());
    }
    let text = bounded_file::read(Path::new(name)).map_err(|error| {
        let misuse = Misuse::new(format!("cannot read scenario file {name}: {error}"));
        match error.kind() {
            ErrorKind::NotFound => {
                misuse.hint("built-in scenarios are named without a dot or slash: `plumb scenario list`")
            }
            _ => misuse,
        }
    })?;
    Ok((name.to_owned(), text))
}

/// The scenario of a run by its whole name: a part of one may be a mistyped built-in.
fn of_run(name: &str, shared: &GlobalFlags) -> anyhow::Result<Option<String>> {
    let Some(store) = store_path::open_existing(shared.db.as_deref())? else { return Ok(None) };
    let Some(run) = store.runs()?.into_iter().find(|run| run.id.0 == name) else { return Ok(None) };
    let scenario = store.load(&run.id)?.header.scenario;
    match scenario.command() {
        Some(command) => Err(Misuse::new(format!("{name} was measured without a scenario"))
            .hint(format!("measure it again with `{command}`"))
            .into()),
        None if scenario.text.is_empty() => {
            Err(Misuse::new(format!("{name} was imported: there is no scenario to measure")).into())
        }
        None => Ok(Some(scenario.text)),
    }
}
