//! Results of runs that were read before, so that a history reads each run once. Must not know what they are for.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use findings::RunResults;
use samples::RunId;
use store::{RunListing, Store, StoreError};

/// So many runs are remembered; then all are forgotten.
const MOST: usize = 1000;

/// A run with what changes when it has other trials: one may be removed, and another kept under its name.
type Key = (RunId, i64, u32);

/// Results by run.
#[derive(Debug, Default)]
pub(crate) struct ResultsCache(Mutex<HashMap<Key, Arc<RunResults>>>);

impl ResultsCache {
    /// The results of a run, read where they are not known.
    pub(crate) fn of(&self, run: &RunListing, store: &Store) -> Result<Arc<RunResults>, StoreError> {
        let key = (run.id.clone(), run.started.0, run.made);
        if let Some(known) = self.known().get(&key) {
            return Ok(Arc::clone(known));
        }
        // Not while others wait for what is known.
        let results = Arc::new(analysis::run_results(&store.load(&run.id)?));
        let mut known = self.known();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, Arc::clone(&results));
        Ok(results)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Arc<RunResults>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
