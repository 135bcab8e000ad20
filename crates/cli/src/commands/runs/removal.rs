//! `plumb runs remove`: removes runs, active ones only with `--force`.

use clap::Args;
use store::{Store, StoreError};

use crate::{failure::Misuse, output};

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Names of runs or unique prefixes
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    /// Also remove active runs. This ends their processes and discards their trials
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &RemoveArgs, store: &mut Store) -> anyhow::Result<()> {
    // Resolve and claim all runs first, so that a typo in one name prevents all removals.
    let ids = args.runs.iter().map(|run| store.resolve(run)).collect::<Result<Vec<_>, _>>()?;
    let mut claims = Vec::new();
    for id in &ids {
        match store.claim(id) {
            Ok(claim) => claims.push(claim),
            Err(StoreError::UnderWay { .. }) if args.force => {}
            Err(StoreError::UnderWay { run, owner }) => {
                let message = format!("run {run} is in progress in {owner}; nothing was removed");
                return Err(Misuse::new(message)
                    .hint(
                        "stop that process first, or use --force: the process ends, and its trials are \
                        lost",
                    )
                    .into());
            }
            // The removal will report this error.
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
