//! `plumb memory`: what virtual machines use and access of their memory, and how well that is seen and shared out.

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

/// What to do with memory of virtual machines.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Show what each machine has, uses and accesses, by node, until it is interrupted
    Top(top::TopArgs),
    /// Show a record of what machines had and accessed, or a comparison, as a page with pictures
    Report(report::ReportArgs),
    /// Boot a guest and see how far each source of accesses is from the truth, and what it costs
    Accuracy(accuracy::AccuracyArgs),
    /// Boot guests whose working sets shift, and compare ways of sharing fast memory out among them
    Compare(compare::CompareArgs),
}

/// Does it.
pub(crate) fn run(command: &MemoryCommand) -> anyhow::Result<Exit> {
    match command {
        MemoryCommand::Top(args) => top::run(args),
        MemoryCommand::Report(args) => report::run(args),
        MemoryCommand::Accuracy(args) => accuracy::run(args),
        MemoryCommand::Compare(args) => compare::run(args),
    }
}
