//! `plumb fleet`: hosts that members make reachable: who is there, and whom the NATS server lets in.

mod drain;
mod list;
mod register;
mod scenario;

use std::sync::Arc;

use clap::Subcommand;
use fleet::{Controller, FleetError, ServerAccess};

use crate::{exit::Exit, output};

/// What to do with a fleet.
#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// List the members that are there
    List(list::ListArgs),
    /// Write a scenario of the members that are there, each to each other
    Scenario(scenario::ScenarioArgs),
    /// Make a folder for a fleet's keys, with a configuration for its NATS server
    Init(register::InitArgs),
    /// Let a member in, or one who measures: makes a key, a file for its owner, and the server's list anew
    Add(register::AddArgs),
    /// Have a member start no further agents, so that its host can be worked on
    Drain(drain::DrainArgs),
    /// Let somebody in no more
    Remove(register::RemoveArgs),
}

/// Does it.
pub(crate) fn run(command: &FleetCommand) -> anyhow::Result<Exit> {
    match command {
        FleetCommand::List(args) => list::run(args),
        FleetCommand::Scenario(args) => scenario::run(args),
        FleetCommand::Init(args) => register::init(args),
        FleetCommand::Add(args) => register::add(args),
        FleetCommand::Drain(args) => drain::run(args),
        FleetCommand::Remove(args) => register::remove(args),
    }
}

/// Connects without a stop flag: Ctrl-C ends the process.
fn open(access: &Arc<ServerAccess>) -> Result<Controller, FleetError> {
    Controller::open(access, &Arc::default(), |line| output::aside(line))
}
