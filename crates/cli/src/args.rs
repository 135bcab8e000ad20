//! What can be typed: the tree of subcommands and what they share.

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::{
    commands::{
        TOOL, baseline, check, client, compare, completions, config, doctor, explain, fleet, import, lab,
        man, measure, member, memory, ping, plot, rebalance, report, run, runs, scenario, schema, server,
        trace, vm, watch, web,
    },
    examples,
    global_flags::GlobalFlags,
    settings::Settings,
};

/// Builds virtual network paths, sends real traffic through them, and says what each layer costs and why.
#[derive(Debug, Parser)]
#[command(name = "plumb", version = TOOL, after_help = EXIT_STATUS)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) shared: GlobalFlags,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Subcommands whose flags take numbers, which may be typed with a minus by mistake.
const OF_NUMBERS: [&str; 3] = ["client", "ping", "server"];

impl Args {
    /// What was typed.
    pub(crate) fn typed() -> Result<Self, clap::Error> {
        Self::from_arg_matches(&tree().try_get_matches()?)
    }

    /// Takes what the user's file says where neither flag nor environment does.
    pub(crate) fn fill(&mut self, settings: Settings) {
        if let Command::Run(run) = &mut self.command {
            run.fill(&settings);
        }
        self.shared.fill(settings);
    }
}

/// Every subcommand with its flags and examples.
pub(crate) fn tree() -> clap::Command {
    let all = OF_NUMBERS.into_iter().fold(Args::command(), |tree, name| tree.mut_subcommand(name, numeric));
    examples::on_every_page(all)
}

/// A flag's own reader says what is wrong with a negative number; it is no unknown flag.
fn numeric(subcommand: clap::Command) -> clap::Command {
    subcommand.mut_args(|arg| {
        let takes = arg.get_action().takes_values() && !arg.is_positional();
        if takes { arg.allow_negative_numbers(true) } else { arg }
    })
}

const EXIT_STATUS: &str = "Exit status: 0 done; 1 tried and failed (of `check` and `watch --once`: a loss is established); \
2 of these alone: it cannot be told; 3 nothing can be measured here; 64 usage error; \
65 of these alone: it could not be checked; 130 interrupted (finished trials are kept).";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure a scenario: create its lab, make its trials, report
    Run(run::RunArgs),
    /// Report a run that was measured before
    Report(report::ReportArgs),
    /// Draw pictures of a run, as SVG or PNG, or write their numbers as CSV
    Plot(plot::PlotArgs),
    /// List or remove runs that are kept
    Runs(runs::RunsArgs),
    /// Show runs in a browser: search, reports, comparisons, history, and a run that is under way
    Web(web::WebArgs),
    /// Compare two runs: environment, then results
    Compare(compare::CompareArgs),
    /// Exit non-zero on a regression against a baseline
    Check(check::CheckArgs),
    /// Measure again and again under a budget, and tell of losses and level shifts
    Watch(watch::WatchArgs),
    /// Name runs that others are compared with
    #[command(subcommand)]
    Baseline(baseline::BaselineCommand),
    /// Take in what other tools have measured: logs of iperf3, sockperf and others, tables
    Import(import::ImportArgs),
    /// Measure throughput to a server: plumb's, or a stock iperf3's
    Client(Box<client::ClientArgs>),
    /// Measure round trips to a server, or how many connections a second
    Ping(Box<ping::PingArgs>),
    /// Serve plumb's, iperf3's and sockperf's clients
    Server(Box<server::ServerArgs>),
    /// List, show and check scenarios
    #[command(subcommand)]
    Scenario(scenario::ScenarioCommand),
    /// Explain a finding: what it looks at, when it is wrong, what to do
    Explain(explain::ExplainArgs),
    /// Print the JSON Schema of a document, for editors and programs
    Schema(schema::SchemaArgs),
    /// Create a lab and keep it up, to look around in it
    #[command(subcommand)]
    Lab(lab::LabCommand),
    /// Trace a running program's system calls and CPU use
    Trace(Box<trace::TraceArgs>),
    /// Become a program when told to (plumb trace starts it)
    #[command(hide = true)]
    Held(trace::launch::LaunchArgs),
    /// What a virtual machine that runs is, who has its CPU time, and what to set instead, without touching it
    Measure(measure::MeasureArgs),
    /// Virtual machines by themselves: boot one, see what it is
    #[command(subcommand)]
    Vm(vm::VmCommand),
    /// Move memory between virtual machines that run, to those that need it
    Rebalance(rebalance::RebalanceArgs),
    /// Memory of virtual machines: what each uses and accesses
    #[command(subcommand)]
    Memory(memory::MemoryCommand),
    /// Let those who may measure from and to this host, over a NATS server
    Member(member::MemberArgs),
    /// Hosts that members make reachable: who is there, and who is let in
    #[command(subcommand)]
    Fleet(fleet::FleetCommand),
    /// What this machine can measure, and what not and why
    Doctor(doctor::DoctorArgs),
    /// Show the defaults that hold for you, and where each comes from
    Config(config::ConfigArgs),
    /// Print what a shell needs to complete plumb's commands and flags
    Completions(completions::CompletionsArgs),
    /// Print manual pages, or write them to a folder
    Man(man::ManArgs),
}
