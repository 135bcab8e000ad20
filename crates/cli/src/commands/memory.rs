//! `plumb memory`: shows memory use and accesses of virtual machines, and evaluates how well they are
//! tracked and balanced.

mod accuracy;
mod compare;
pub(crate) mod document;
mod guests;
pub(crate) mod record;
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
    /// Show a recording or comparison as a page with charts
    Report(report::ReportArgs),
    /// Boot a guest to measure the accuracy and cost of each access source
    Accuracy(accuracy::AccuracyArgs),
    /// Boot guests with shifting working sets, and compare policies for sharing fast memory
    Compare(compare::CompareArgs),
}

pub(crate) fn run(command: &MemoryCommand) -> anyhow::Result<Exit> {
    match command {
        MemoryCommand::Top(args) => top::run(args),
        MemoryCommand::Report(args) => report::run(args),
        MemoryCommand::Accuracy(args) => accuracy::run(args),
        MemoryCommand::Compare(args) => compare::run(args),
    }
}
