//! The state of a run that a reader is following.

use findings::RunResults;
use samples::{RunId, RunRecord, RunState};
use store::{Location, RunProgress, Store, StoreError};

use crate::failure::Failure;

/// After this many polls without a claim, the run counts as finished. A restarted database server has no claims until
/// the next trial.
const UNCLAIMED_LOOKS: u32 = 120;

#[derive(Debug)]
pub(super) struct Following {
    pub(super) record: RunRecord,
    pub(super) progress: RunProgress,
    pub(super) is_under_way: bool,
    pub(super) results: RunResults,
    unclaimed: u32,
}

impl Following {
    pub(super) fn begin(store: &Store, run: &RunId) -> Result<Self, Failure> {
        // Read the trials last, so that a trial added in between is read twice rather than missed.
        let is_under_way = store.is_under_way(run);
        let progress = store.progress(run)?;
        let record = store.load(run)?;
        let results = analysis::run_results(&record);
        Ok(Self {
            is_under_way: is_under_way && progress.state == RunState::Unfinished,
            progress,
            record,
            results,
            unclaimed: 0,
        })
    }

    pub(super) fn look(&mut self, store: &Store) -> Result<bool, StoreError> {
        let run = self.record.header.id.clone();
        self.unclaimed = if store.is_under_way(&run) { 0 } else { self.unclaimed + 1 };
        let is_shared = matches!(store.location(), Location::Server(_));
        let patience = if is_shared && self.is_under_way { UNCLAIMED_LOOKS } else { 1 };
        let claimed = self.unclaimed < patience;
        let progress = store.progress(&run)?;
        let is_under_way = claimed && progress.state == RunState::Unfinished;
        if progress == self.progress && is_under_way == self.is_under_way {
            return Ok(false);
        }
        for trial in store.trials_after(&run, self.progress.newest)? {
            // A repeated trial replaces the original.
            self.record.trials.retain(|known| known.index != trial.index);
            self.record.trials.push(trial);
        }
        self.record.header.state = progress.state;
        self.results = analysis::run_results(&self.record);
        (self.progress, self.is_under_way) = (progress, is_under_way);
        Ok(true)
    }

    pub(super) const fn has_ended(&self) -> bool {
        !self.is_under_way
    }
}
