//! What can be typed: the tree of subcommands and what they share.

use clap::{Parser, Subcommand};

use crate::{
    commands::{client, doctor, lab, ping, report, run, runs, scenario, schema, server},
    shared::Shared,
};

/// Builds virtual network paths, sends real traffic through them, and says what each layer costs and why.
#[derive(Debug, Parser)]
#[command(name = "plumb", version, after_help = EXIT_STATUS)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) shared: Shared,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_STATUS: &str = "Exit status: 0 done; 1 tried and failed; 2 what was asked makes no sense; \
3 nothing can be measured here; 130 interrupted (finished trials are kept).";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure a scenario: raise its lab, make its trials, report
    Run(run::RunArgs),
    /// Report a run that was measured before
    Report(report::ReportArgs),
    /// List or remove runs that are kept
    Runs(runs::RunsArgs),
    /// Measure throughput to a server: plumb's, or a stock iperf3's
    Client(Box<client::ClientArgs>),
    /// Measure round trips to a server, or how many connections a second
    Ping(Box<ping::PingArgs>),
    /// Serve plumb's, iperf3's and sockperf's clients
    Server(Box<server::ServerArgs>),
    /// List, show and check scenarios
    #[command(subcommand)]
    Scenario(scenario::ScenarioCommand),
    /// Print the JSON Schema of a document, for editors and programs
    Schema(schema::SchemaArgs),
    /// Raise a lab and keep it standing, to look around in it
    #[command(subcommand)]
    Lab(lab::LabCommand),
    /// What this machine can measure, and what not and why
    Doctor(doctor::DoctorArgs),
}
