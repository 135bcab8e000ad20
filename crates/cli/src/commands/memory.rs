//! `plumb memory`: shows how much memory virtual machines use and access.

pub(crate) mod recording;
mod report;
mod summary;
mod table;
mod top;

use clap::Subcommand;

use crate::exit::Exit;

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Show each machine's memory size, use and accesses per NUMA node, until interrupted
    Top(top::TopArgs),
    /// Show a recording as a page with charts
    Report(report::ReportArgs),
}

pub(crate) fn run(command: &MemoryCommand) -> anyhow::Result<Exit> {
    match command {
        MemoryCommand::Top(args) => top::run(args),
        MemoryCommand::Report(args) => report::run(args),
    }
}
