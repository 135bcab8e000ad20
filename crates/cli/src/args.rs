//! The tree of subcommands and their shared flags.

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::{
    commands::{
        baseline, between, bisect, check, client, compare, completions, config, doctor, explain, fleet,
        import, lab, man, measure, member, memory, ping, plot, rebalance, report, run, runs, scenario,
        schema, server, trace, vm, vs, watch, web,
    },
    examples,
    exit::Exit,
    global_flags::GlobalFlags,
    list_format::ListFormat,
    program::TOOL,
    settings::Settings,
};

/// Builds virtual network paths, sends real traffic through them, and reports what each layer costs and
/// why.
#[derive(Debug, Parser)]
#[command(name = "plumb", version = TOOL, after_help = EXIT_STATUS)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) shared: GlobalFlags,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Subcommands with numeric flags.
const NUMERIC: [&str; 3] = ["client", "ping", "server"];

impl Args {
    pub(crate) fn from_command_line() -> Result<Self, clap::Error> {
        Self::from_arg_matches(&tree().try_get_matches()?)
    }

    pub(crate) fn fill(&mut self, settings: Settings) {
        if let Command::Run(run) = &mut self.command {
            run.fill(&settings);
        }
        self.shared.fill(settings);
    }

    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let shared = &self.shared;
        match &self.command {
            Command::Run(args) => run::run(args, shared),
            Command::Between(args) => between::run(args, shared),
            Command::Vs(args) => vs::run(args, shared),
            Command::Bisect(args) => bisect::run(args, shared),
            Command::Report(args) => report::run(args, shared),
            Command::Plot(args) => plot::run(args, shared),
            Command::Runs(args) => runs::run(args, shared),
            Command::Compare(args) => compare::run(args, shared),
            Command::Check(args) => check::run(args, shared),
            Command::Watch(args) => watch::run(args, shared),
            Command::Baseline(command) => baseline::run(command, shared),
            Command::Import(args) => import::run(args, shared),
            Command::Client(args) => client::run(args, shared),
            Command::Ping(args) => ping::run(args, shared),
            Command::Server(args) => server::run(args),
            Command::Scenario(command) => scenario::run(command, shared),
            Command::List(format) => scenario::run(&scenario::ScenarioCommand::List(*format), shared),
            Command::Schema(args) => schema::run(args),
            Command::Explain(args) => explain::run(args, shared),
            Command::Lab(command) => lab::run(command, shared),
            Command::Trace(args) => trace::run(args),
            Command::Held(args) => trace::launch::wait_and_exec(args),
            Command::Measure(args) => measure::run(args),
            Command::Vm(command) => vm::run(command),
            Command::Rebalance(args) => rebalance::run(args),
            Command::Memory(command) => memory::run(command),
            Command::Member(args) => member::run(args),
            Command::Fleet(command) => fleet::run(command),
            Command::Doctor(args) => doctor::run(args),
            Command::Config(args) => config::run(args, shared),
            Command::Completions(args) => completions::run(args, tree()),
            Command::Man(args) => man::run(args, tree()),
            Command::Web(args) => web::run(args, shared),
        }
    }
}

fn tree() -> clap::Command {
    let all = NUMERIC.into_iter().fold(Args::command(), |tree, name| tree.mut_subcommand(name, numeric));
    examples::on_every_page(all)
}

/// Lets each flag's parser reject negative numbers. Otherwise, clap would report them as unknown flags.
fn numeric(subcommand: clap::Command) -> clap::Command {
    subcommand.mut_args(|arg| {
        let takes = arg.get_action().takes_values() && !arg.is_positional();
        if takes { arg.allow_negative_numbers(true) } else { arg }
    })
}

const EXIT_STATUS: &str = "Exit status: 0 success; 1 failure (`check` and `watch --once`: a regression was \
    found); 2 inconclusive (`check` and `watch --once` only); 3 nothing can be measured on this machine; \
    64 usage error; 65 the check could not run (`check` and `watch --once` only); 130 interrupted \
    (finished trials are stored).";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure a scenario: create its lab, run the trials and print a report
    Run(Box<run::RunArgs>),
    /// Measure the path between two containers, pods, processes or namespaces of this machine
    Between(between::BetweenArgs),
    /// Measure two settings of a scenario, or two servers, and report which is faster
    Vs(vs::VsArgs),
    /// Find the first of several kernels that changes a result
    Bisect(bisect::BisectArgs),
    /// Print the report of a stored run
    Report(report::ReportArgs),
    /// Draw charts of a run as SVG or PNG, or export the data as CSV
    Plot(plot::PlotArgs),
    /// Manage stored runs: list, remove, check, repair, export, import
    Runs(runs::RunsArgs),
    /// Browse runs, reports, comparisons, history and live progress in a web browser
    Web(web::WebArgs),
    /// Compare the environments and results of two runs
    Compare(compare::CompareArgs),
    /// Exit non-zero on a regression against a baseline
    Check(check::CheckArgs),
    /// Measure repeatedly within a budget, and alert on regressions and level shifts
    Watch(watch::WatchArgs),
    /// Manage baselines: runs that other runs are compared with
    #[command(subcommand)]
    Baseline(baseline::BaselineCommand),
    /// Import logs and tables from iperf3, sockperf and other tools
    Import(import::ImportArgs),
    /// Measure throughput to a plumb or stock iperf3 server
    Client(Box<client::ClientArgs>),
    /// Measure round-trip latency to a server, or its connection rate
    Ping(Box<ping::PingArgs>),
    /// Serve plumb, iperf3 and sockperf clients
    Server(Box<server::ServerArgs>),
    /// List, show and check scenarios
    #[command(subcommand)]
    Scenario(scenario::ScenarioCommand),
    /// Explain a finding: how it is detected, when it is wrong, what to do
    Explain(explain::ExplainArgs),
    /// Print the JSON Schema of a document, for editors and programs
    Schema(schema::SchemaArgs),
    /// Create a lab and keep it running, to explore it
    #[command(subcommand)]
    Lab(lab::LabCommand),
    /// Trace a running program's system calls and CPU use
    Trace(Box<trace::TraceArgs>),
    /// List the built-in scenarios
    #[command(hide = true)]
    List(ListFormat),
    /// Run a program when plumb trace is ready (internal)
    #[command(hide = true)]
    Held(trace::launch::LaunchArgs),
    /// Inspect a running virtual machine from outside: configuration, CPU attribution, advice
    Measure(measure::MeasureArgs),
    /// Boot a virtual machine and show its properties
    #[command(subcommand)]
    Vm(vm::VmCommand),
    /// Move memory to the running virtual machines that need it
    Rebalance(rebalance::RebalanceArgs),
    /// Show how much memory virtual machines use and access
    #[command(subcommand)]
    Memory(memory::MemoryCommand),
    /// Let authorised controllers measure from and to this host, over a NATS server
    Member(member::MemberArgs),
    /// List the hosts of a fleet, and manage who may join it
    #[command(subcommand)]
    Fleet(fleet::FleetCommand),
    /// Check what this machine can measure
    Doctor(doctor::DoctorArgs),
    /// Show the effective defaults and their sources
    Config(config::ConfigArgs),
    /// Print a shell completion script
    Completions(completions::CompletionsArgs),
    /// Print manual pages, or write them to a directory
    Man(man::ManArgs),
}
