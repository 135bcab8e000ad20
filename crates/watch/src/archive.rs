//! Queries a scenario's stored runs for the last start, the bytes sent and the latest results.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use findings::{GuardLimits, RunComparison, RunLevelShift, RunResults};
use samples::{RunId, RunState, UnixMillis};
use store::{RunListing, Store, StoreError, remedies_parent};
use units::Bytes;

use crate::{
    budget,
    measure::{Against, Measure},
    schedule,
    state::ScenarioState,
};

const SEARCHED: usize = 40;
/// Number of recent runs used to estimate how many bytes a run sends.
const EXPECTED: usize = 10;
/// Cache size in runs. A day never has this many runs.
const MOST: usize = 4000;

type Key = (i64, RunId, u32);

#[derive(Debug)]
pub struct StoredRun {
    pub bytes: Bytes,
    pub results: Arc<RunResults>,
}

#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    known: BTreeMap<Key, Arc<StoredRun>>,
}

#[derive(Debug)]
pub struct Standing {
    pub stored: Arc<StoredRun>,
    pub compared: Option<RunComparison>,
    pub shifts: Vec<RunLevelShift>,
}

impl Archive {
    pub fn new(path: PathBuf) -> Self {
        Self { path, known: BTreeMap::new() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the store for each query, because the file may be deleted, moved or replaced. Never creates a store.
    fn store(&self) -> Result<Option<Store>, StoreError> {
        Store::open_existing(&self.path)
    }

    pub fn baseline(&self, name: &str) -> Result<Option<RunId>, StoreError> {
        self.store()?.map(|store| store.baseline(name)).transpose()
    }

    /// Ignores runs that start in the future: they were stored while the clock was ahead.
    pub fn last(&self, digest: &str, now: UnixMillis) -> Result<Option<UnixMillis>, StoreError> {
        let Some(store) = self.store()? else { return Ok(None) };
        let runs = store.runs_of(digest)?;
        Ok(runs.iter().filter(|run| !run.imported && run.started <= now).map(|run| run.started).max())
    }

    /// Returns the newest run and the bytes it has sent, if the run is incomplete and started after the given time.
    pub fn unfinished(
        &mut self,
        digest: &str,
        since: UnixMillis,
    ) -> Result<Option<(RunId, Bytes)>, StoreError> {
        let Some(store) = self.store()? else { return Ok(None) };
        let runs = measured(&store, digest)?;
        let newest = runs.iter().max_by_key(|run| run.started);
        let newest = newest.filter(|run| run.state == RunState::Unfinished && run.started > since);
        let sent = newest.and_then(|run| Some((run.id.clone(), self.stored_run(&store, run)?.bytes)));
        Ok(sent)
    }

    pub fn completed(&self, digest: &str) -> Result<Option<UnixMillis>, StoreError> {
        let Some(store) = self.store()? else { return Ok(None) };
        let newest = measured(&store, digest)?.into_iter().max_by_key(|run| run.started);
        Ok(newest.filter(|run| run.state == RunState::Complete).map(|run| run.started))
    }

    /// Returns the bytes sent on the UTC day of `now`. Skips unreadable runs.
    pub fn sent_today(&mut self, names: &[&str], now: UnixMillis) -> Result<Bytes, StoreError> {
        let Some(store) = self.store()? else { return Ok(Bytes(0)) };
        let today =
            |run: &RunListing| schedule::day_of(run.started) == schedule::day_of(now) && !run.imported;
        let mut runs = store.runs()?;
        runs.retain(|run| today(run) && names.contains(&run.scenario.as_str()));
        Ok(runs.iter().filter_map(|run| self.stored_run(&store, run)).map(|run| run.bytes).sum())
    }

    /// Returns the median number of bytes sent by recent runs, so that a single unusually long run has no effect.
    pub fn expected(&mut self, digest: &str) -> Result<Option<Bytes>, StoreError> {
        let Some(store) = self.store()? else { return Ok(None) };
        let runs = complete(&store, digest)?;
        let last = runs.iter().take(EXPECTED).filter_map(|run| self.stored_run(&store, run));
        let mut sent: Vec<Bytes> = last.map(|run| run.bytes).collect();
        sent.sort_unstable();
        Ok(sent.get(sent.len() / 2).copied())
    }

    pub fn latest(&mut self, digest: &str) -> Result<Option<Arc<StoredRun>>, StoreError> {
        let Some(store) = self.store()? else { return Ok(None) };
        Ok(complete(&store, digest)?.first().and_then(|newest| self.stored_run(&store, newest)))
    }

    /// Returns `None` if the run is incomplete or not stored.
    pub fn standing(
        &mut self,
        digest: &str,
        run: &RunId,
        measure: &Measure,
        remembered: &ScenarioState,
    ) -> Result<Option<Standing>, StoreError> {
        let Some(store) = self.store()? else { return Ok(None) };
        let mut runs = complete(&store, digest)?;
        runs.drain(..runs.iter().position(|listed| listed.id == *run).unwrap_or(runs.len()));
        let Some(stored) = runs.first().and_then(|newest| self.stored_run(&store, newest)) else {
            return Ok(None);
        };
        let compared = match reference(&store, &runs, measure, remembered)? {
            Some(against) if against != *run => Some(compared(&store, &against, run, measure, remembered)?),
            _ => None,
        };
        runs.truncate(SEARCHED);
        runs.reverse();
        let known: Vec<Arc<StoredRun>> = runs.iter().filter_map(|run| self.stored_run(&store, run)).collect();
        let results: Vec<Arc<RunResults>> = known.iter().map(|run| Arc::clone(&run.results)).collect();
        Ok(Some(Standing { stored, compared, shifts: analysis::newly_worse(&results) }))
    }

    fn stored_run(&mut self, store: &Store, run: &RunListing) -> Option<Arc<StoredRun>> {
        let key = (run.started.0, run.id.clone(), run.completed);
        if let Some(known) = self.known.get(&key) {
            return Some(Arc::clone(known));
        }
        let record = store.load(&run.id).ok()?;
        let results = Arc::new(analysis::run_results(&record));
        let read = Arc::new(StoredRun { bytes: budget::bytes_sent(&record), results });
        self.known.insert(key, Arc::clone(&read));
        if self.known.len() > MOST {
            self.known.pop_first();
        }
        Some(read)
    }
}

/// Returns the complete runs, newest first. Omits tests of remedies, which measure something else.
fn complete(store: &Store, digest: &str) -> Result<Vec<RunListing>, StoreError> {
    let mut runs = measured(store, digest)?;
    runs.retain(|run| run.state == RunState::Complete);
    Ok(runs)
}

fn measured(store: &Store, digest: &str) -> Result<Vec<RunListing>, StoreError> {
    let all = store.runs_of(digest)?;
    let measured = |run: &&RunListing| {
        let of_remedies = remedies_parent(&run.id, all.iter().map(|other| &other.id)).is_some();
        !run.imported && !of_remedies
    };
    Ok(all.iter().filter(measured).cloned().collect())
}

/// Returns a run that passed, or the previous run if none has passed yet.
fn reference(
    store: &Store,
    runs: &[RunListing],
    measure: &Measure,
    remembered: &ScenarioState,
) -> Result<Option<RunId>, StoreError> {
    let back = match &measure.against {
        Against::Baseline(name) => return Ok(Some(store.baseline(name)?)),
        Against::Previous(back) => *back,
    };
    let is_kept = |passed: &&RunId| runs.iter().any(|run| run.id == **passed);
    let passed: Vec<&RunId> = remembered.passed.iter().filter(is_kept).collect();
    let chosen = passed.get(passed.len().saturating_sub(back)).copied();
    Ok(chosen.or(runs.get(1).map(|run| &run.id)).cloned())
}

fn compared(
    store: &Store,
    against: &RunId,
    run: &RunId,
    measure: &Measure,
    remembered: &ScenarioState,
) -> Result<RunComparison, StoreError> {
    let (a, b) = (store.load(against)?, store.load(run)?);
    // Exclude runs with an active regression, because a regression is not noise.
    let is_usual =
        |other: &RunListing| remembered.regressed_since.is_none_or(|(since, _)| other.started < since);
    let others = store.others(&a, &b, is_usual)?;
    let mut comparison = analysis::comparison(&a, &b, &others);
    comparison.gate = Some(analysis::gate(&comparison, measure.max_loss.0, GuardLimits::default()));
    Ok(comparison)
}
