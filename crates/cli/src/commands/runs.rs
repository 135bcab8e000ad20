//! `plumb runs`: what is kept, and forgetting it.

use clap::{Args, Subcommand};
use comfy_table::{Table, presets};
use jiff::{Timestamp, tz::TimeZone};
use samples::{RunState, UnixMillis};
use store::{Baseline, RunListing, Store};

use crate::{exit::Exit, kept, say, shared::Shared};

/// Flags of `plumb runs`.
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    command: Option<RunsCommand>,
}

/// What to do with runs.
#[derive(Debug, Subcommand)]
enum RunsCommand {
    /// List the runs that are kept, newest first
    List,
    /// Forget runs and all their trials
    Remove {
        /// Runs' names, or beginnings that mean one
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<String>,
    },
}

/// Lists or removes.
pub(crate) fn run(args: &RunsArgs, shared: &Shared) -> anyhow::Result<Exit> {
    let mut store = kept::open(shared.db.as_deref())?;
    match args.command.as_ref().unwrap_or(&RunsCommand::List) {
        RunsCommand::List => list(&store)?,
        RunsCommand::Remove { runs } => {
            // All are looked up first: a slip in the second name must not cost the first run.
            let ids = runs.iter().map(|run| store.resolve(run)).collect::<Result<Vec<_>, _>>()?;
            for id in ids {
                store.remove(&id)?;
                say::line(format_args!("removed {id}"))?;
            }
        }
    }
    Ok(Exit::Success)
}

fn list(store: &Store) -> anyhow::Result<()> {
    let runs = store.runs()?;
    if runs.is_empty() {
        let path = store.path().display();
        return Ok(say::line(format_args!("no runs are kept in {path}; `plumb run quick` makes one"))?);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["RUN", "BEGUN (UTC)", "TRIALS", "STATE", "BASELINE", "TITLE"]);
    let baselines = store.baselines()?;
    for run in &runs {
        table.add_row(row(run, &baselines));
    }
    Ok(say::line(table)?)
}

fn row(run: &RunListing, baselines: &[Baseline]) -> [String; 6] {
    let state = match run.state {
        RunState::Complete => "complete",
        RunState::Unfinished => "unfinished",
    };
    let state = if run.imported { format!("{state}, imported") } else { state.to_owned() };
    let names: Vec<&str> =
        baselines.iter().filter(|named| named.run == run.id).map(|named| named.name.as_str()).collect();
    let trials = format!("{}/{}", run.made, run.planned);
    [run.id.to_string(), time(run.started), trials, state, names.join(", "), run.title.clone()]
}

/// When a run began, in UTC.
pub(super) fn time(millis: UnixMillis) -> String {
    Timestamp::from_millisecond(millis.0)
        .map(|time| time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_else(|_| millis.0.to_string())
}
