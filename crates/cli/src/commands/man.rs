//! `plumb man`: prints help texts as manual pages (man(7)).

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::{Args, Command};
use clap_mangen::{
    Man,
    roff::{Roff, bold, line_break, roman},
};

use crate::{destination, exit::Exit, failure::Misuse, output};

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Subcommand to document, e.g. `run` or `scenario new` [default: plumb itself]
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    command: Vec<String>,
    /// Write all pages to this directory
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

const STATUS: &str = "Exit status: ";
const USUAL_STATUS: &str = "Exit status: 0 success; 1 failure; 64 usage error.";
const FILES: &[(&str, &str)] = &[
    ("~/.config/plumb/config.toml", "Defaults; `plumb config` shows the effective ones"),
    ("~/.config/plumb/fleet.toml", "The fleet's NATS server and this controller's key"),
    ("~/.local/share/plumb/runs.db", "Runs, traces and baselines (SQLite)"),
    ("/run/plumb/labs", "Running labs of root; for other users, $XDG_RUNTIME_DIR/plumb/labs"),
];
const ENVIRONMENT: &[(&str, &str)] = &[
    ("PLUMB_DB", "Database of runs, like --db"),
    ("PLUMB_FLEET", "Fleet configuration file, instead of fleet.toml"),
    ("PLUMB_GUEST_KERNEL", "Guest kernel: a file, or a release, e.g. `6.12`"),
    ("PLUMB_PLAIN", "Print plain lines instead of the live view"),
    ("IPERF3_PASSWORD", "Password of `plumb client --username`"),
    ("NO_COLOR, CLICOLOR_FORCE", "Never or always use colours"),
    ("PAGER, COLUMNS", "Pager for long pages, and page width"),
    ("XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_RUNTIME_DIR", "Replace ~/.config, ~/.local/share and /run"),
];

fn write_all(command: &Command, folder: &Path) -> anyhow::Result<()> {
    let file = folder.join(Man::new(command.clone()).get_filename());
    destination::replace(&file, &page(command)?)
        .with_context(|| format!("cannot write {}", file.display()))?;
    command
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .try_for_each(|it| write_all(it, folder))
}

pub(crate) fn run(args: &ManArgs, tree: Command) -> anyhow::Result<Exit> {
    let mut tree = without_help(tree);
    tree.build();
    if let Some(folder) = &args.output {
        let cannot = || format!("cannot write the manual pages to {}", folder.display());
        fs::create_dir_all(folder).with_context(cannot)?;
        write_all(&tree, folder)?;
        output::aside(format_args!("wrote the manual pages to {}", folder.display()));
        return Ok(Exit::Success);
    }
    let mut page = &tree;
    for word in &args.command {
        let known = page.find_subcommand(word).filter(|command| !command.is_hide_set());
        page = known.ok_or_else(|| {
            Misuse::new(format!("plumb has no subcommand `{}`", args.command.join(" ")))
                .hint("`plumb help` lists them")
        })?;
    }
    output::text(String::from_utf8_lossy(&self::page(page)?))?;
    Ok(Exit::Success)
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let (man, mut page) = (Man::new(command.clone()), Vec::new());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().any(|below| !below.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    let mut rest = Roff::new();
    let notes = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let usual = (!notes.contains(STATUS)).then_some(USUAL_STATUS);
    for paragraph in notes.split("\n\n").filter(|paragraph| !paragraph.is_empty()).chain(usual) {
        if let Some(examples) = paragraph.strip_prefix("Examples:\n") {
            let lines = examples.lines().flat_map(|line| [roman(line), line_break()]);
            rest.control("SH", ["EXAMPLES"])
                .control("nf", [])
                .text(lines.collect::<Vec<_>>())
                .control("fi", []);
        } else if let Some(status) = paragraph.strip_prefix(STATUS) {
            rest.control("SH", ["EXIT STATUS"]).text([roman(status)]);
        } else {
            rest.control("SH", ["NOTES"]).text([roman(paragraph)]);
        }
    }
    for (title, rows) in [("FILES", FILES), ("ENVIRONMENT", ENVIRONMENT)] {
        rest.control("SH", [title]);
        for (name, meaning) in rows {
            rest.control("TP", []).text([bold(*name)]).text([roman(*meaning)]);
        }
    }
    rest.to_writer(&mut page)?;
    if command.get_version().is_some() {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}

/// Removes the `help` subcommands, because their pages would be duplicates.
fn without_help(command: Command) -> Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}
