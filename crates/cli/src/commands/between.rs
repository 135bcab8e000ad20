//! `plumb between`: measures the path between two existing endpoints on this machine.

mod document;
mod ends;
mod limits;
mod obstacles;
mod path;

use std::{
    io::{self, BufRead, IsTerminal, Write},
    path::PathBuf,
    sync::Arc,
};

use ::scenario::{Plan, Scenario};
use clap::Args;
use lab::{Attachments, RunError};
use units::BitRate;

use self::{ends::Ends, limits::Limits, path::PathShown};
use super::run::{self, RunArgs};
use crate::{exit::Exit, failure::Misuse, global_flags::GlobalFlags, output, source::Source};

#[derive(Debug, Args)]
pub(crate) struct BetweenArgs {
    /// The client's end: local, netns:PATH, pid:N, container:NAME or pod:NAMESPACE/NAME
    #[arg(value_name = "A")]
    from: String,
    /// The server's end, in the same form
    #[arg(value_name = "B")]
    to: String,
    /// Send UDP instead of TCP
    #[arg(long)]
    udp: bool,
    /// Limit the payload rate, e.g. 1G [default: as fast as possible]
    #[arg(long, visible_alias = "max-rate", value_name = "RATE")]
    rate: Option<BitRate>,
    /// Also measure the latency of each hop, by repeating the trials with probes
    #[arg(long)]
    hops: bool,
    /// Run the traffic in the workloads' cgroups, under their limits. It uses the workloads' CPU time and memory
    #[arg(long)]
    as_workload: bool,
    /// Trials per workload. More trials give narrower intervals [default: 6, taking less than 60 s]
    #[arg(long, value_name = "N", default_value_t = 6, hide_default_value = true, value_parser = clap::value_parser!(u32).range(1..=1000))]
    trials: u32,
    /// Also write the report to this file; its extension selects the format: .html, .md, .json, .csv
    #[arg(long, visible_alias = "output", short = 'o', value_name = "FILE")]
    report: Option<PathBuf>,
    /// Load the path without confirmation. Required if standard input is not a terminal
    #[arg(long, short)]
    yes: bool,
}

const AS_WORKLOAD: &str = "warning: the traffic uses CPU time and memory of the workloads, which may become slower or run \
                           out of memory";

pub(crate) fn run(args: &BetweenArgs, shared: &GlobalFlags) -> anyhow::Result<Exit> {
    let ends = Ends::parse(&args.from, &args.to)?;
    // Only a single-threaded process can enter a user namespace.
    let opened = ends.open()?;
    let text = document::text(&ends, opened.addresses, args.udp, args.rate);
    let scenario = Scenario::parse("the scenario of plumb between", &text)?;
    let path = PathShown::find(&ends, &opened)?;
    output::text(&path)?;
    if args.as_workload {
        output::aside(AS_WORKLOAD);
    }
    let (between, reader) = path.devices_between()?;
    let (endpoints, as_workload) = (opened.endpoints(&ends), args.as_workload);
    let attachments = Arc::new(Attachments { endpoints, as_workload, between, reader });
    let run_args = RunArgs::of_between(args.trials, args.hops, args.report.clone());
    let mut limits = Vec::new();
    let confirm = |plan: &Plan| {
        if !args.yes {
            confirm(args, plan)?;
        }
        limits.extend([&ends.from, &ends.to].into_iter().filter_map(|end| Limits::of(end, &attachments)));
        Ok(())
    };
    let exit = run::between(&run_args, Source { scenario, text }, confirm, &attachments, shared);
    let error = exit.as_ref().err().and_then(|error| error.downcast_ref());
    if matches!(error, Some(RunError::Refused { .. } | RunError::Unreachable { .. })) {
        path.obstacles().iter().for_each(output::aside);
    }
    let exit = exit?;
    for limit in limits {
        limit.print(&attachments)?;
    }
    Ok(exit)
}

fn confirm(args: &BetweenArgs, plan: &Plan) -> anyhow::Result<()> {
    let question = question(args, plan);
    if !io::stdin().is_terminal() {
        let misuse = Misuse::new(format!("{question}; confirmation is required"));
        return Err(misuse.hint("add --yes, and --max-rate to limit the load").into());
    }
    let mut prompt = io::stderr();
    write!(prompt, "{question}. Continue? [y/N] ")?;
    prompt.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Misuse::new("the measurement was declined").hint("--yes skips this question").into()),
    }
}

fn question(args: &BetweenArgs, plan: &Plan) -> String {
    let is_loaded = |result: usize| plan.results[result].workload.as_str() == document::THROUGHPUT;
    let loaded = plan.estimate_of(plan.trials.iter().filter(|trial| is_loaded(trial.result)));
    let transport = if args.udp { "UDP" } else { "TCP" };
    let rate = args.rate.map_or("full rate".to_owned(), |rate| format!("up to {rate}"));
    format!(
        "this loads the path from {} to {} with {transport} at {rate} for up to {:.0} s, and takes about {:.0} s in total",
        args.from,
        args.to,
        loaded.seconds(),
        plan.duration_estimate().seconds(),
    )
}
