//! `plumb completions`: shell completion scripts.

use ::scenario::builtin;
use clap::{Args, Command, builder::PossibleValuesParser};
use clap_complete::Shell;

use crate::{exit::Exit, output};

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to generate the script for
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, tree: Command) -> anyhow::Result<Exit> {
    let names = || PossibleValuesParser::new(builtin::all().iter().map(|builtin| builtin.name));
    // Shells already complete the names of scenario files.
    let mut tree =
        tree.mut_subcommand("run", |run| run.mut_arg("scenario", |name| name.value_parser(names())));
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut tree, "plumb", &mut script);
    output::text(String::from_utf8_lossy(&script))?;
    Ok(Exit::Success)
}
