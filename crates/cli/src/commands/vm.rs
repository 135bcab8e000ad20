//! `plumb vm`: virtual machines by themselves, without a scenario.

mod document;
mod machine;
mod run;

pub(crate) use machine::qemu;

use clap::Subcommand;

use crate::exit::Exit;

/// What to do with virtual machines.
#[derive(Debug, Subcommand)]
pub(crate) enum VmCommand {
    /// Boot a guest with plumb as its first process: what it is, how soon it is there, what can be measured in it
    Run(run::RunArgs),
}

/// Does it.
pub(crate) fn run(command: &VmCommand) -> anyhow::Result<Exit> {
    match command {
        VmCommand::Run(args) => run::run(args),
    }
}
