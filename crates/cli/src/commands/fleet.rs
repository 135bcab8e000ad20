//! `plumb fleet`: lists the hosts of a fleet and manages access to its NATS server.

mod drain;
mod list;
mod register;
mod scenario;

use std::sync::Arc;

use clap::Subcommand;
use fleet::{Controller, FleetError, ServerAccess};

use crate::{exit::Exit, output};

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// List the connected members
    List(list::ListArgs),
    /// Write a scenario with paths between all connected members
    Scenario(scenario::ScenarioArgs),
    /// Create a directory for a fleet's keys and its NATS server configuration
    Init(register::InitArgs),
    /// Authorise a member or controller: create its key and configuration, and update the server's user list
    Add(register::AddArgs),
    /// Stop a member from starting further agents, e.g. for maintenance of its host
    Drain(drain::DrainArgs),
    /// Revoke a member's or controller's access
    Remove(register::RemoveArgs),
}

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

/// Connects without a stop flag, so Ctrl-C ends the process.
fn open(access: &Arc<ServerAccess>) -> Result<Controller, FleetError> {
    Controller::open(access, &Arc::default(), |line| output::aside(line))
}
