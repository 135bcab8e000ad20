//! `plumb config`: shows the effective defaults and their sources.

use std::{env, path::Path};

use clap::Args;
use comfy_table::{Table, presets};
use serde_json::json;

use crate::{
    exit::Exit,
    global_flags::{GlobalFlags, Origin},
    list_format::{self, ListFormat},
    output, pager,
    settings::{self, Settings},
    store_path,
};

/// Variables in order of precedence.
const COLOUR: [&str; 3] = ["NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR"];

#[derive(Debug, Args)]
#[command(after_help = FILE)]
pub(crate) struct ConfigArgs {
    #[command(flatten)]
    format: ListFormat,
}

const FILE: &str = "The file is $XDG_CONFIG_HOME/plumb/config.toml, or ~/.config/plumb/config.toml:
  db = \"~/runs.db\"     database of runs
  colour = false       no colours on a terminal
  plain = true         plain lines instead of the live view of `plumb run`
  pager = \"less -FRX\"  pager for reports longer than the terminal
  trials = 7           trials per result in new runs, overriding the scenario
  probe = \"cpu\"        probes of new runs, overriding the scenario
Flags take precedence over the environment, and the environment over the file.";

struct Row {
    key: &'static str,
    value: String,
    from: String,
}

pub(crate) fn run(args: &ConfigArgs, shared: &GlobalFlags) -> anyhow::Result<Exit> {
    let rows = rows(shared)?;
    if args.format.json {
        let entry = |row: &Row| json!({ "key": row.key, "value": row.value, "from": row.from });
        list_format::json(rows.iter().map(entry))?;
        return Ok(Exit::Success);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["KEY", "VALUE", "SOURCE"]);
    table.add_rows(rows.into_iter().map(|row| [row.key.to_owned(), row.value, row.from]));
    output::line(table)?;
    match settings::file() {
        Some(file) if file.exists() => output::aside(format_args!("config file: {}", file.display())),
        Some(file) => output::aside(format_args!("no config file {}", file.display())),
        None => output::aside("no config file: neither HOME nor XDG_CONFIG_HOME is set"),
    }
    Ok(Exit::Success)
}

fn rows(shared: &GlobalFlags) -> anyhow::Result<Vec<Row>> {
    let Settings { colour, plain, pager, trials, probe, .. } = &shared.settings;
    let db = shared.db.as_deref().map_or_else(store_path::default_path, |db| Ok(Path::to_owned(db)))?;
    let from = match shared.db_from {
        Origin::Flag => "flag --db".to_owned(),
        Origin::Environment => variable("PLUMB_DB"),
        Origin::File => "file".to_owned(),
        Origin::BuiltIn => "built in".to_owned(),
    };
    let scenarios = || "the scenario's".to_owned();
    let probes = probe.as_ref().map(|chosen| match &chosen.0[..] {
        [] => "none".to_owned(),
        kinds => kinds.iter().map(|kind| kind.word()).collect::<Vec<_>>().join(","),
    });
    let colours = console::colors_enabled();
    let is_plain = env::var("PLUMB_PLAIN").ok();
    Ok(vec![
        Row { key: "db", value: store_path::display(&db), from },
        Row { key: "colour", value: colours.to_string(), from: origin(&COLOUR, colour.is_some()) },
        Row {
            key: "plain",
            value: is_plain.unwrap_or_else(|| plain.unwrap_or(false).to_string()),
            from: origin(&["PLUMB_PLAIN"], plain.is_some()),
        },
        Row {
            key: "pager",
            value: pager::command(pager.as_deref()),
            from: origin(&["PAGER"], pager.is_some()),
        },
        Row {
            key: "trials",
            value: trials.map_or_else(scenarios, |trials| trials.to_string()),
            from: origin(&[], trials.is_some()),
        },
        Row { key: "probe", value: probes.unwrap_or_else(scenarios), from: origin(&[], probe.is_some()) },
    ])
}

fn origin(variables: &[&str], is_in_file: bool) -> String {
    let set = variables.iter().find(|name| env::var_os(name).is_some_and(|value| !value.is_empty()));
    set.map_or_else(|| if is_in_file { "file" } else { "built in" }.to_owned(), |name| variable(name))
}

fn variable(name: &str) -> String {
    format!("environment {name}")
}
