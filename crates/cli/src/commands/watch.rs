//! `plumb watch`: scenarios measured again and again under a budget, each run compared with those before it, and somebody told
//! when one lost. Flags, the plan and what is found by it; the rest is in files of its own.

mod alert;
mod archive;
mod budget;
mod forecast;
mod metrics;
mod plan;
mod report;
mod run_process;
mod schedule;
mod session;
mod state;

use std::{
    net::SocketAddr,
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use clap::Args;
use jiff::Timestamp;
use lab::Stop;
use samples::UnixMillis;
use store::StoreError;
use units::Nanos;
use web::MetricsEndpoint;

use self::{
    archive::Archive,
    plan::{Against, Measure, Plan},
    session::Session,
    state::WatchState,
};
use crate::{
    amount,
    exit::Exit,
    failure::{CheckFailure, Misuse},
    global_flags::GlobalFlags,
    interrupt, output, source, store_path,
};

/// Flags of `plumb watch`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct WatchArgs {
    /// What is measured how often, how much a day may send, and who is told (TOML)
    plan: PathBuf,
    /// Measure once what is due, and end with the exit status of the worst verdict
    #[arg(long)]
    once: bool,
    /// Show what the next day would measure and send, as far as kept runs tell, and measure nothing
    #[arg(long, conflicts_with_all = ["once", "metrics", "length"])]
    dry_run: bool,
    /// Serve numbers for Prometheus at this address, over HTTP without encryption [default: the plan's]
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<SocketAddr>,
    /// End after so long, as 8h; a run that is under way is made to its end [default: when it is interrupted]
    #[arg(id = "length", long = "for", value_name = "TIME", value_parser = amount::seconds, conflicts_with = "once")]
    length: Option<Nanos>,
    /// Print a JSON document a line
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
The plan is a file of TOML:

  [[measure]]
  scenario = \"quick\"        # a built-in, or a file as seen from the plan's folder, as ./mine.toml
  every = \"24h\"
  at = \"02:30\"             # of UTC, where it is of whole days
  jitter = \"5min\"          # up to so much later, without \"at\" earlier or later (default then: a tenth)
  baseline = \"previous 3\"   # of those that passed, or a baseline's name; default: the last of these
  max_loss = \"5%\"

  [budget]
  bytes_per_day = \"50GB\"    # payload, in a day of UTC

  [alert]
  hook = [\"/usr/local/bin/notify\", \"ops\"]

  [metrics]
  listen = \"127.0.0.1:9817\"

Each measurement is a run that is kept as by `plumb run`. Ctrl-C ends a run that is under way, and the watch with it.

Exit status: 0 it ended as asked; with --once that of the worst verdict, as of `plumb check`: 1 a loss is established, 65 a run \
failed or the store cannot be read, 2 it cannot be told; 64 usage error; 130 interrupted in a run (finished trials are kept).";

/// A measurement of the plan with its scenario as it is now.
#[derive(Debug)]
struct Watched {
    measure: Measure,
    /// The scenario's own name.
    name: String,
    /// Of its text.
    digest: String,
}

/// Reads the plan, and shows or does what it says.
pub(crate) fn run(args: &WatchArgs, shared: &GlobalFlags) -> anyhow::Result<Exit> {
    let plan = Plan::read(&args.plan)?;
    let watched = watched(&plan.measures, shared)?;
    let archive = Archive::new(store_path::path(shared.db.as_deref())?);
    for measure in &plan.measures {
        require_baseline(&archive, measure)?;
    }
    if args.dry_run {
        forecast::print(&watched, plan.budget, archive, &args.plan, now(), args.json)?;
        return Ok(Exit::Success);
    }
    let measured = measured(args, shared, &plan, watched, archive);
    // A failure must not look like a loss, nor like one that cannot be told.
    if args.once { measured.context(CheckFailure) } else { measured }
}

/// Measures until it is to end.
fn measured(
    args: &WatchArgs,
    shared: &GlobalFlags,
    plan: &Plan,
    watched: Vec<Watched>,
    archive: Archive,
) -> anyhow::Result<Exit> {
    let Some(state) = WatchState::open(archive.path(), &args.plan)? else {
        let name = args.plan.display();
        if args.once {
            output::aside(format_args!("another watch of {name} is under way"));
            return Ok(Exit::Success);
        }
        bail!("another watch of {name} is under way with these runs");
    };
    let stop = Stop::new();
    interrupt::asks(&stop.flag())?;
    let listen = args.metrics.or(plan.listen.filter(|_| !args.once));
    let mut session = Session::new(plan, watched, archive, state, shared, &stop, args.json);
    let metrics = session.metrics();
    let endpoint =
        listen.map(|listen| MetricsEndpoint::listen(listen, move || metrics.text())).transpose()?;
    if let Some(endpoint) = &endpoint {
        output::aside(format_args!("metrics at http://{}/metrics", endpoint.address()));
        session.take_kept_runs();
    }
    let until = args.length.map(|length| Instant::now() + Duration::from(length));
    if args.once { session.once() } else { session.go_on(until) }
}

/// The scenarios of the plan.
fn watched(measures: &[Measure], shared: &GlobalFlags) -> anyhow::Result<Vec<Watched>> {
    let mut watched: Vec<Watched> = Vec::new();
    for measure in measures {
        let scenario = source::load(&measure.scenario, shared)?.scenario;
        if watched.iter().any(|known| known.name == scenario.name) {
            let message = format!("two scenarios of the plan are called `{}`", scenario.name);
            return Err(Misuse::new(message)
                .hint("their runs could not be told apart: give one another `name`")
                .into());
        }
        let (name, digest) = (scenario.name, scenario.digest);
        watched.push(Watched { measure: measure.clone(), name, digest });
    }
    Ok(watched)
}

/// A baseline that is not there would be told again and again.
fn require_baseline(archive: &Archive, measure: &Measure) -> anyhow::Result<()> {
    let Against::Baseline(name) = &measure.against else { return Ok(()) };
    let missing = match archive.baseline(name) {
        Ok(Some(_)) => return Ok(()),
        Ok(None) => format!("no baseline is called `{name}`: no run is kept yet"),
        Err(error) if matches!(error.downcast_ref(), Some(StoreError::NoBaseline { .. })) => {
            error.to_string()
        }
        Err(error) => return Err(error),
    };
    Err(Misuse::new(missing).hint(format!("`plumb baseline set {name} RUN` names one")).into())
}

fn now() -> UnixMillis {
    UnixMillis(Timestamp::now().as_millisecond())
}
