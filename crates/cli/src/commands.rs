//! The subcommands, one file each.

pub(crate) mod baseline;
pub(crate) mod check;
pub(crate) mod client;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod fleet;
pub(crate) mod import;
pub(crate) mod iperf3_flags;
pub(crate) mod lab;
pub(crate) mod man;
pub(crate) mod measure;
pub(crate) mod member;
pub(crate) mod memory;
pub(crate) mod ping;
pub(crate) mod plot;
pub(crate) mod rebalance;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod scenario;
pub(crate) mod schema;
pub(crate) mod server;
pub(crate) mod trace;
pub(crate) mod vm;
pub(crate) mod watch;
pub(crate) mod web;

use self::scenario::ScenarioCommand;
use crate::{
    args::{Args, Command},
    exit::Exit,
};

/// Stored in every run and sent to agents. Marks unoptimised builds.
pub const TOOL: &str = env!("PLUMB_VERSION");

/// The running program, even if its file was replaced (proc_pid_exe(5)).
pub(crate) const PROGRAM: &str = "/proc/self/exe";

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let shared = &args.shared;
    match &args.command {
        Command::Run(args) => run::run(args, shared),
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
        Command::List(format) => scenario::run(&ScenarioCommand::List(*format), shared),
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
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
        Command::Web(args) => web::run(args, shared),
    }
}
