//! `plumb runs check` and `repair`: check stored runs, and recover readable data.

use clap::Args;
use samples::{RunId, UnreadablePart};
use serde_json::json;
use store::{Location, Store};

use crate::{
    exit::Exit,
    list_format::{self, ListFormat},
    output,
};

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Names of runs or unique prefixes [default: all]
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    #[command(flatten)]
    format: ListFormat,
}

struct Health {
    id: RunId,
    trials: usize,
    unreadable: Vec<UnreadablePart>,
}

pub(super) fn check(args: &CheckArgs, store: &Store) -> anyhow::Result<Exit> {
    let ids = match args.runs.as_slice() {
        [] => store.runs()?.into_iter().map(|run| run.id).collect(),
        named => named.iter().map(|run| store.resolve(run)).collect::<Result<Vec<_>, _>>()?,
    };
    let damage = store.integrity()?;
    let runs: Vec<Health> = ids.into_iter().map(|id| of_run(store, id)).collect();
    if args.format.json {
        let entry =
            |run: &Health| json!({ "run": run.id, "trials": run.trials, "unreadable": run.unreadable });
        list_format::json(runs.iter().map(entry))?;
        damage.iter().for_each(|line| output::aside(format_args!("{line}")));
    } else {
        print(store, &damage, &runs)?;
    }
    let whole = damage.is_empty() && runs.iter().all(|run| run.unreadable.is_empty());
    Ok(if whole { Exit::Success } else { Exit::Failure })
}

fn of_run(store: &Store, id: RunId) -> Health {
    match store.load(&id) {
        Ok(record) => Health { id, trials: record.trials.len(), unreadable: record.unreadable },
        Err(error) => {
            let part = UnreadablePart { part: "the run".to_owned(), reason: error.to_string() };
            Health { id, trials: 0, unreadable: vec![part] }
        }
    }
}

fn print(store: &Store, damage: &[String], runs: &[Health]) -> anyhow::Result<()> {
    for run in runs.iter().filter(|run| !run.unreadable.is_empty()) {
        output::line(format_args!("{}: {} readable trials", run.id, run.trials))?;
        for part in &run.unreadable {
            output::prose(&format!("  {}: {}", part.part, part.reason))?;
        }
    }
    for line in damage {
        output::prose(&format!("the file: {line}"))?;
    }
    let whole = runs.iter().filter(|run| run.unreadable.is_empty());
    let (count, trials) = (whole.clone().count(), whole.map(|run| run.trials).sum::<usize>());
    let place = store.location();
    output::line(format_args!("{count} of {} runs are intact ({trials} trials) in {place}", runs.len()))?;
    let is_damaged = !damage.is_empty() || count < runs.len();
    if is_damaged && matches!(place, Location::Server(_)) {
        output::line("repair a database server by restoring a backup")?;
    } else if is_damaged {
        output::prose("`plumb runs repair` recovers readable data into a new file and keeps this one")?;
    }
    Ok(())
}

pub(super) fn repair(store: Store) -> anyhow::Result<Exit> {
    let path = store.location().to_string();
    let repair = store.repair()?;
    for run in &repair.kept {
        output::line(format_args!("{}: {} trials", run.id, run.trials))?;
        for part in &run.lost {
            output::prose(&format!("  without {}: {}", part.part, part.reason))?;
        }
    }
    for part in &repair.lost {
        output::prose(&format!("without {}: {}", part.part, part.reason))?;
    }
    output::line(format_args!(
        "recovered {} runs into {path}; the original is now {}",
        repair.kept.len(),
        repair.old.display()
    ))?;
    if repair.kept.iter().any(|run| !run.lost.is_empty()) || !repair.lost.is_empty() {
        output::prose("`plumb run --resume RUN` repeats a run's lost trials")?;
    }
    Ok(Exit::Success)
}
