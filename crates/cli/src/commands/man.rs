//! `plumb man`: help texts as manual pages (man(7)).

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::{Args, Command};
use clap_mangen::Man;

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

fn write_all(command: &Command, folder: &Path) -> anyhow::Result<()> {
    let (page, mut text) = (Man::new(command.clone()), Vec::new());
    page.render(&mut text)?;
    let file = folder.join(page.get_filename());
    destination::replace(&file, &text).with_context(|| format!("cannot write {}", file.display()))?;
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
    let mut text = Vec::new();
    Man::new(page.clone()).render(&mut text)?;
    output::text(String::from_utf8_lossy(&text))?;
    Ok(Exit::Success)
}

/// Removes `help` subcommands, whose pages would be duplicates.
fn without_help(command: Command) -> Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}
