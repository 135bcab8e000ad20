//! `plumb baseline`: manages named runs that other runs are compared with.

use clap::Subcommand;
use comfy_table::{Table, presets};
use serde_json::json;
use store::{Baseline, Store};

use super::{report, runs};
use crate::{
    exit::Exit,
    failure::Misuse,
    global_flags::GlobalFlags,
    list_format::{self, ListFormat},
    output, store_path,
};

#[derive(Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Name a run as a baseline, or move an existing name to this run
    Set {
        /// The name: letters, digits, `.`, `_` and `-`
        #[arg(value_parser = name)]
        name: String,
        /// A run's name or prefix, `latest`, or `latest:SCENARIO`
        run: String,
    },
    /// List the baselines
    List(ListFormat),
    /// Print the report of a baseline's run
    Show {
        /// The baseline's name
        name: String,
    },
    /// Remove a baseline, but keep its run
    Remove {
        /// The baseline's name
        name: String,
    },
}

pub(crate) fn run(command: &BaselineCommand, shared: &GlobalFlags) -> anyhow::Result<Exit> {
    let mut store = store_path::open(shared.db.as_deref())?;
    match command {
        BaselineCommand::Set { name, run } => set(&mut store, name, run)?,
        BaselineCommand::List(format) => list(&store, *format)?,
        BaselineCommand::Show { name } => {
            let record = store.load(&store.baseline(name)?)?;
            output::coloured(&report::for_terminal(&analysis::analyse(&record), &record)?)?;
        }
        BaselineCommand::Remove { name } => {
            let run = store.remove_baseline(name)?;
            output::line(format_args!("removed baseline {name}; run {run} is still stored"))?;
        }
    }
    Ok(Exit::Success)
}

fn set(store: &mut Store, name: &str, run: &str) -> anyhow::Result<()> {
    let run = store.resolve(run)?;
    let record = store.load(&run)?;
    if let Some(remedy_trials) = &record.header.remedy_trials {
        let message =
            format!("run {run} cannot be a baseline: it only tested the remedies of {}", remedy_trials.run);
        let hint = "its results with and without a remedy cannot be compared with other runs; use the tested \
                run as the baseline";
        return Err(Misuse::new(message).hint(hint).into());
    }
    match store.set_baseline(name, &run)? {
        Some(before) if before != run => output::line(format_args!("{name} is now {run} (was {before})"))?,
        _ => output::line(format_args!("{name} is {run}"))?,
    }
    Ok(())
}

fn list(store: &Store, format: ListFormat) -> anyhow::Result<()> {
    let baselines = store.baselines()?;
    if format.json {
        return list_format::json(baselines.iter().map(|it| json!({ "baseline": it.name, "run": it.run })));
    }
    if baselines.is_empty() {
        return Ok(output::line("no baselines; `plumb baseline set NAME RUN` names a run")?);
    }
    let runs = store.runs()?;
    let row = |Baseline { name, run }: &Baseline| {
        let listed = runs.iter().find(|listed| listed.id == *run);
        let started = listed.map_or_else(String::new, |listed| runs::time(listed.started));
        let title = listed.map_or_else(String::new, |listed| listed.title.clone());
        [name.clone(), run.to_string(), started, title]
    };
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["BASELINE", "RUN", "STARTED (UTC)", "TITLE"]);
    table.add_rows(baselines.iter().map(row));
    Ok(output::line(table)?)
}

const LATEST: &str = "latest";

fn name(text: &str) -> Result<String, String> {
    let fits = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '.' | '_' | '-');
    if text == LATEST {
        return Err(format!("`{LATEST}` means the newest run: choose another name for a baseline"));
    }
    if text.chars().all(fits) && (1..=64).contains(&text.len()) && !text.starts_with(['-', '.']) {
        return Ok(text.to_owned());
    }
    Err(format!("invalid name `{text}`: use up to 64 letters, digits, `.`, `_` and `-`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_names_without_special_characters() {
        for text in ["main", "v1.2", "nightly_2026-11-21"] {
            assert_eq!(name(text).as_deref(), Ok(text));
        }
        for text in ["", "two words", "a/b", "-x", "..", "baseline:x", "naïve", &"x".repeat(65)] {
            assert!(name(text).is_err_and(|error| error.contains("letters")), "{text}");
        }
        assert!(name("latest").is_err_and(|error| error.contains("newest run")));
        assert!(name("latest:quick").is_err());
    }
}
