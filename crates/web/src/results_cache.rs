//! Caches the results of runs, so that history pages read each run only once.

use std::{collections::HashMap, sync::Arc};

use findings::RunResults;
use parking_lot::Mutex;
use samples::RunId;
use store::{RunListing, Store, StoreError};

/// The cache is cleared when it contains this many entries.
const MOST: usize = 1000;

/// Includes the start time and the number of trials, because a run may be removed and its name reused.
type Key = (RunId, i64, u32);

#[derive(Debug, Default)]
pub(crate) struct ResultsCache(Mutex<HashMap<Key, Arc<RunResults>>>);

impl ResultsCache {
    pub(crate) fn of(&self, run: &RunListing, store: &Store) -> Result<Arc<RunResults>, StoreError> {
        let key = (run.id.clone(), run.started.0, run.completed);
        if let Some(results) = self.0.lock().get(&key) {
            return Ok(Arc::clone(results));
        }
        // Compute the results without holding the lock.
        let results = Arc::new(analysis::run_results(&store.load(&run.id)?));
        let mut entries = self.0.lock();
        if entries.len() >= MOST {
            entries.clear();
        }
        entries.insert(key, Arc::clone(&results));
        Ok(results)
    }
}
