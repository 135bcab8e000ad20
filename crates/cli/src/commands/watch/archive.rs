//! Queries the stored runs of a scenario: the last start, the bytes sent, and the latest results.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use findings::{Gate, GuardLimits, RunComparison, RunLevelShift, RunResults};
use samples::{RunId, RunState, UnixMillis};
use store::{RunListing, Store};
use units::Bytes;

use super::{
    budget,
    plan::{Against, Measure},
    schedule,
    state::ScenarioState,
};
use crate::{remedy_results, run_reference, store_path};

/// The number of runs that are searched for level shifts.
const SEARCHED: usize = 40;
/// The number of runs used to estimate the bytes sent.
const EXPECTED: usize = 10;
/// The size of the cache, in runs. A day cannot have that many.
const MOST: usize = 4000;

/// The start time, run and number of trials. This changes when trials are added.
type Key = (i64, RunId, u32);

#[derive(Debug)]
pub(super) struct StoredRun {
    pub(super) bytes: Bytes,
    pub(super) results: Arc<RunResults>,
}

#[derive(Debug)]
pub(super) struct Archive {
    path: PathBuf,
    known: BTreeMap<Key, Arc<StoredRun>>,
}

#[derive(Debug)]
pub(super) struct Standing {
    pub(super) stored: Arc<StoredRun>,
    pub(super) compared: Option<(RunComparison, Gate)>,
    /// Level shifts for the worse that start with this run.
    pub(super) shifts: Vec<RunLevelShift>,
}

impl Archive {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, known: BTreeMap::new() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The store is opened again for each query, because the file may be deleted, moved or replaced. Nothing is
    /// created.
    fn store(&self) -> anyhow::Result<Option<Store>> {
        store_path::open_existing(Some(&self.path))
    }

    pub(super) fn baseline(&self, name: &str) -> anyhow::Result<Option<RunId>> {
        Ok(self.store()?.map(|store| store.baseline(name)).transpose()?)
    }

    /// Returns the start of a scenario's last run. Runs with a start in the future are ignored, because the clock was
    /// ahead.
    pub(super) fn last(&self, digest: &str, now: UnixMillis) -> anyhow::Result<Option<UnixMillis>> {
        let Some(store) = self.store()? else { return Ok(None) };
        let runs = store.runs_of(digest)?;
        Ok(runs.iter().filter(|run| !run.imported && run.started <= now).map(|run| run.started).max())
    }

    /// Returns the newest run of a scenario and the bytes it has sent, if it is incomplete and started after the
    /// given time.
    pub(super) fn unfinished(
        &mut self,
        digest: &str,
        since: UnixMillis,
    ) -> anyhow::Result<Option<(RunId, Bytes)>> {
        let Some(store) = self.store()? else { return Ok(None) };
        let runs = measured(&store, digest)?;
        let newest = runs.iter().max_by_key(|run| run.started);
        let newest = newest.filter(|run| run.state == RunState::Unfinished && run.started > since);
        let sent = newest.and_then(|run| Some((run.id.clone(), self.stored_run(&store, run)?.bytes)));
        Ok(sent)
    }

    pub(super) fn completed(&self, digest: &str) -> anyhow::Result<Option<UnixMillis>> {
        let Some(store) = self.store()? else { return Ok(None) };
        let newest = measured(&store, digest)?.into_iter().max_by_key(|run| run.started);
        Ok(newest.filter(|run| run.state == RunState::Complete).map(|run| run.started))
    }

    /// Returns the bytes sent on the UTC day of `now` by runs of the named scenarios. Unreadable runs are skipped.
    pub(super) fn sent_today(&mut self, names: &[&str], now: UnixMillis) -> anyhow::Result<Bytes> {
        let Some(store) = self.store()? else { return Ok(Bytes(0)) };
        let today =
            |run: &RunListing| schedule::day_of(run.started) == schedule::day_of(now) && !run.imported;
        let mut runs = store.runs()?;
        runs.retain(|run| today(run) && names.contains(&run.scenario.as_str()));
        Ok(runs.iter().filter_map(|run| self.stored_run(&store, run)).map(|run| run.bytes).sum())
    }

    /// Returns the expected bytes per run, or `None` if there are no runs. This is the median of recent runs, so it
    /// tolerates an outlier with many trials.
    pub(super) fn expected(&mut self, digest: &str) -> anyhow::Result<Option<Bytes>> {
        let Some(store) = self.store()? else { return Ok(None) };
        let runs = complete(&store, digest)?;
        let last = runs.iter().take(EXPECTED).filter_map(|run| self.stored_run(&store, run));
        let mut sent: Vec<Bytes> = last.map(|run| run.bytes).collect();
        sent.sort_unstable();
        Ok(sent.get(sent.len() / 2).copied())
    }

    pub(super) fn latest(&mut self, digest: &str) -> anyhow::Result<Option<Arc<StoredRun>>> {
        let Some(store) = self.store()? else { return Ok(None) };
        Ok(complete(&store, digest)?.first().and_then(|newest| self.stored_run(&store, newest)))
    }

    /// Compares a run with its reference. Returns `None` if the run is incomplete or not stored.
    pub(super) fn standing(
        &mut self,
        digest: &str,
        run: &RunId,
        measure: &Measure,
        remembered: &ScenarioState,
    ) -> anyhow::Result<Option<Standing>> {
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

/// Returns the complete runs of a scenario, newest first, without tests of remedies, which measure something else.
fn complete(store: &Store, digest: &str) -> anyhow::Result<Vec<RunListing>> {
    let mut runs = measured(store, digest)?;
    runs.retain(|run| run.state == RunState::Complete);
    Ok(runs)
}

/// Leaves out imported runs and tests of remedies.
fn measured(store: &Store, digest: &str) -> anyhow::Result<Vec<RunListing>> {
    let all = store.runs_of(digest)?;
    let measured = |run: &&RunListing| {
        let of_remedies = remedy_results::parent(&run.id, all.iter().map(|other| &other.id)).is_some();
        !run.imported && !of_remedies
    };
    Ok(all.iter().filter(measured).cloned().collect())
}

/// Returns the reference for the newest run: a run that passed, or the previous run if none has passed yet.
fn reference(
    store: &Store,
    runs: &[RunListing],
    measure: &Measure,
    remembered: &ScenarioState,
) -> anyhow::Result<Option<RunId>> {
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
) -> anyhow::Result<(RunComparison, Gate)> {
    let (a, b) = (store.load(against)?, store.load(run)?);
    // A regression that is still active is not run-to-run noise.
    let is_usual =
        |other: &RunListing| remembered.regressed_since.is_none_or(|(since, _)| other.started < since);
    let others = run_reference::others(store, &a, &b, is_usual)?;
    let comparison = analysis::comparison(&a, &b, &others);
    let gate = analysis::gate(&comparison, measure.max_loss.0, GuardLimits::default());
    Ok((comparison, gate))
}
