//! Caches results of runs, so that a history reads each run once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use findings::RunResults;
use samples::RunId;
use store::{RunListing, Store, StoreError};

/// The cache is cleared when full.
const MOST: usize = 1000;

/// A run may be removed and its name reused, so this includes the number of trials.
type Key = (RunId, i64, u32);

#[derive(Debug, Default)]
pub(crate) struct ResultsCache(Mutex<HashMap<Key, Arc<RunResults>>>);

impl ResultsCache {
    pub(crate) fn of(&self, run: &RunListing, store: &Store) -> Result<Arc<RunResults>, StoreError> {
        let key = (run.id.clone(), run.started.0, run.completed);
        if let Some(known) = self.entries().get(&key) {
            return Ok(Arc::clone(known));
        }
        // Not while holding the lock.
        let results = Arc::new(analysis::run_results(&store.load(&run.id)?));
        let mut known = self.entries();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, Arc::clone(&results));
        Ok(results)
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Arc<RunResults>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
