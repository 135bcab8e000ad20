//! `plumb runs remove`: forgetting runs, but none that is under way unless that is insisted on.

use clap::Args;
use store::{Store, StoreError};

use crate::{failure::Misuse, output};

/// Flags of `plumb runs remove`.
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Runs' names, or beginnings that mean one
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    /// Remove a run that is under way too; its process ends then, and what it measured is lost
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &RemoveArgs, store: &mut Store) -> anyhow::Result<()> {
    // All are looked up and claimed first: a slip in the second name must not cost the first run.
    let ids = args.runs.iter().map(|run| store.resolve(run)).collect::<Result<Vec<_>, _>>()?;
    let mut claims = Vec::new();
    for id in &ids {
        match store.claim(id) {
            Ok(claim) => claims.push(claim),
            Err(StoreError::UnderWay { .. }) if args.force => {}
            Err(StoreError::UnderWay { run, owner }) => {
                let message = format!("run {run} is under way in {owner}; nothing was removed");
                return Err(Misuse::new(message)
                    .hint("end that process first, or remove the run with --force: the process ends, and its trials are lost")
                    .into());
            }
            // Whoever may not make a lock may not remove either, and is told of that.
            Err(StoreError::CannotOpen { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    for id in ids {
        store.remove(&id)?;
        output::line(format_args!("removed {id}"))?;
    }
    Ok(())
}
