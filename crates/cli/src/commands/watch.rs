//! `plumb watch`: measures scenarios repeatedly within a budget, compares each run with earlier runs, and alerts on
//! regressions.

mod alert;
mod forecast;
mod host;
mod metrics;
mod plan;
mod run_process;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use clap::Args;
use lab::Stop;
use store::{Location, StoreError};
use units::Nanos;
use watch::{Against, Archive, Measure, Session, Verdict, WatchEnd, WatchState, Watched, now};
use web::MetricsEndpoint;

use self::{host::Program, plan::Plan};
use crate::{
    amount,
    exit::Exit,
    failure::{CheckFailure, Misuse},
    global_flags::GlobalFlags,
    interrupt, output, source, store_path,
};

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct WatchArgs {
    /// Schedule, daily budget and alerts (TOML)
    plan: PathBuf,
    /// Run due measurements once, then exit with the status of the worst verdict
    #[arg(long)]
    once: bool,
    /// Show the next day's schedule and traffic, estimated from stored runs, without measuring
    #[arg(long, conflicts_with_all = ["once", "metrics", "length"])]
    dry_run: bool,
    /// Serve Prometheus metrics over unencrypted HTTP at this address [default: the plan's]
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<SocketAddr>,
    /// Stop after this time, e.g. 8h, when the active run has finished [default: run until interrupted]
    #[arg(id = "length", long = "for", value_name = "TIME", value_parser = amount::seconds, conflicts_with = "once")]
    length: Option<Nanos>,
    /// Print one JSON document per line
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "The plan is a TOML file:

  [[measure]]
  scenario = \"quick\"        # a built-in, or a file relative to the plan, e.g. ./mine.toml
  every = \"24h\"
  at = \"02:30\"             # UTC; only if `every` is in whole days
  jitter = \"5min\"          # random shift of the start; default: a tenth of `every`; with `at`, only \
    later, and none by default
  baseline = \"previous 3\"   # third-last run that passed, or a baseline's name; default: the last that passed
  max_loss = \"5%\"

  [budget]
  bytes_per_day = \"50GB\"    # payload per UTC day

  [alert]
  hook = [\"/usr/local/bin/notify\", \"ops\"]

  [metrics]
  listen = \"127.0.0.1:9817\"

Runs are stored like those of `plumb run`. Ctrl-C interrupts the active run and exits.

Exit status: 0 success; with --once the worst verdict's, like `plumb check`: 1 regression found, 65 a run \
    failed or the database cannot be read, 2 inconclusive; 64 usage error; 130 interrupted during a run \
    (finished trials are stored).";

pub(crate) fn run(args: &WatchArgs, shared: &GlobalFlags) -> Result<Exit> {
    let plan = Plan::read(&args.plan)?;
    let watched = watched(&plan.measures, shared)?;
    let archive = Archive::new(store_path::path(shared.db.as_deref())?);
    for measure in &plan.measures {
        require_baseline(&archive, measure)?;
    }
    if args.dry_run {
        let state = state_path(archive.path(), &args.plan).ok();
        forecast::print(&watched, plan.budget, archive, state.as_deref(), now(), args.json)?;
        return Ok(Exit::Success);
    }
    let measured = measured(args, shared, &plan, watched, archive);
    if args.once { measured.context(CheckFailure) } else { measured }
}

fn measured(
    args: &WatchArgs,
    shared: &GlobalFlags,
    plan: &Plan,
    watched: Vec<Watched>,
    archive: Archive,
) -> Result<Exit> {
    let path = state_path(archive.path(), &args.plan)?;
    let Some(state) = WatchState::open(&path)? else {
        let running = format!("another watch of {} is already running", args.plan.display());
        if !args.once {
            bail!("{running} on this database");
        }
        output::aside(running);
        return Ok(Exit::Success);
    };
    if state.is_damaged {
        output::aside(format_args!("note: {} is damaged; alerts may be repeated", path.display()));
    }
    let stop = Stop::new();
    interrupt::set_on_signal(&stop.flag())?;
    let listen = args.metrics.or(plan.listen.filter(|_| !args.once));
    let host = Program { plan, shared, store: archive.path().to_owned(), stop: &stop, is_json: args.json };
    let mut session = Session::new(host, watched, plan.budget, archive, state, &stop);
    let metrics = session.metrics();
    let endpoint = listen
        .map(|listen| MetricsEndpoint::listen(listen, move || metrics::text(&metrics.lock())))
        .transpose()?;
    if let Some(endpoint) = &endpoint {
        output::aside(format_args!("metrics at http://{}/metrics", endpoint.address()));
        session.load_stored_runs();
    }
    let until = args.length.map(|length| Instant::now() + Duration::from(length));
    Ok(exit(if args.once { session.once()? } else { session.run_until(until)? }, args.once))
}

fn exit(end: WatchEnd, once: bool) -> Exit {
    if once && end == WatchEnd::Finished(None) {
        output::aside("no measurement is due");
    }
    match end {
        WatchEnd::Interrupted => Exit::Interrupted,
        WatchEnd::Finished(None | Some(Verdict::First | Verdict::Passed | Verdict::Skipped)) => Exit::Success,
        WatchEnd::Finished(Some(Verdict::Undecided)) => Exit::Inconclusive,
        WatchEnd::Finished(Some(Verdict::Failed)) => Exit::NotChecked,
        WatchEnd::Finished(Some(Verdict::Regressed)) => Exit::Lost,
    }
}

fn state_path(store: &Path, plan: &Path) -> Result<PathBuf> {
    Ok(match Location::parse(store)? {
        Location::File(file) => state_file(&file, plan),
        // Keep the state of the watch on this machine, because only one machine watches a plan.
        server @ Location::Server(_) => {
            let name = server.to_string().replace('/', "_");
            state_file(&store_path::default_path()?.with_file_name(name), plan)
        }
    })
}

fn state_file(store: &Path, plan: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(".");
    name.push(plan.file_stem().unwrap_or_default());
    name.push(".watch");
    name.into()
}

fn watched(measures: &[Measure], shared: &GlobalFlags) -> Result<Vec<Watched>> {
    let mut watched: Vec<Watched> = Vec::new();
    for measure in measures {
        let scenario = source::load(&measure.scenario, shared)?.scenario;
        if watched.iter().any(|known| known.name == scenario.name) {
            let message = format!("two scenarios of the plan have the same name `{}`", scenario.name);
            return Err(Misuse::new(message)
                .hint("their runs would be mixed up; change the `name` of one")
                .into());
        }
        let (name, digest) = (scenario.name, scenario.digest);
        watched.push(Watched { measure: measure.clone(), name, digest });
    }
    Ok(watched)
}

/// Fails at startup if the baseline is missing. Otherwise, every round would report this error.
fn require_baseline(archive: &Archive, measure: &Measure) -> Result<()> {
    let Against::Baseline(name) = &measure.against else { return Ok(()) };
    let missing = match archive.baseline(name) {
        Ok(Some(_)) => return Ok(()),
        Ok(None) => format!("there is no baseline `{name}`, because no runs are stored yet"),
        Err(error @ StoreError::NoBaseline { .. }) => error.to_string(),
        Err(error) => return Err(error.into()),
    };
    Err(Misuse::new(missing).hint(format!("create it with `plumb baseline set {name} RUN`")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_file_depends_on_store_and_plan() {
        let path = state_file(Path::new("/data/runs.db"), Path::new("/etc/plumb/nightly.toml"));
        assert_eq!(path, Path::new("/data/runs.db.nightly.watch"));
    }
}
