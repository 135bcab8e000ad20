//! `plumb vm`: boots virtual machines without a scenario.

mod document;
mod machine;
mod run;

pub(crate) use machine::qemu;

use clap::Subcommand;

use crate::exit::Exit;

#[derive(Debug, Subcommand)]
pub(crate) enum VmCommand {
    /// Boot a guest with plumb as init, and show its properties, boot time and usable probes
    Run(run::RunArgs),
}

pub(crate) fn run(command: &VmCommand) -> anyhow::Result<Exit> {
    match command {
        VmCommand::Run(args) => run::run(args),
    }
}
