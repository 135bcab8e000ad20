//! What the kept runs of a scenario tell of it: when the last one began, what they sent, what the newest comes to. The store is
//! the only memory: whoever looks anew, in another process too, sees the same. Must not know who is told.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use analysis::{NewestRun, Reference};
use findings::{RunLevelShift, RunResults};
use samples::{RunId, RunRecord, RunState, UnixMillis};
use store::{RunListing, Store};
use units::Bytes;

use super::{
    budget,
    plan::{Against, Measure},
    schedule,
};
use crate::remedy_results;

/// So many runs tell whether a loss stands: one that stays for longer is what runs are like.
const JUDGED: usize = 12;
/// Level shifts are sought in so many.
const SEARCHED: usize = 40;
/// What a run will send is taken from so many.
const EXPECTED: usize = 10;
/// So many runs are remembered; then all are forgotten.
const MOST: usize = 1000;

/// A run with what changes when it has other trials.
type Key = (RunId, i64, u32);

/// What is needed of many runs, each of which is read once.
#[derive(Debug)]
struct KeptRun {
    bytes: Bytes,
    results: Arc<RunResults>,
}

/// The kept runs.
#[derive(Debug)]
pub(super) struct Archive {
    path: PathBuf,
    known: HashMap<Key, Arc<KeptRun>>,
}

/// What the newest complete run of a scenario comes to.
#[derive(Debug)]
pub(super) struct Standing {
    pub(super) began: UnixMillis,
    pub(super) bytes: Bytes,
    pub(super) results: Arc<RunResults>,
    pub(super) newest: NewestRun,
    /// Level shifts for the worse that were not seen before it.
    pub(super) shifts: Vec<RunLevelShift>,
}

impl Archive {
    /// Those in this file, which need not be there yet.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, known: HashMap::new() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opened for each look: the file may be deleted, moved or replaced meanwhile. Nothing is made.
    fn store(&self) -> anyhow::Result<Option<Store>> {
        Ok(self.path.is_file().then(|| Store::open(&self.path)).transpose()?)
    }

    /// The run that has this name; `None` where no run is kept.
    pub(super) fn baseline(&self, name: &str) -> anyhow::Result<Option<RunId>> {
        Ok(self.store()?.map(|store| store.baseline(name)).transpose()?)
    }

    /// When the last run of a scenario began; one of a clock that was ahead does not count.
    pub(super) fn last(&self, digest: &str, now: UnixMillis) -> anyhow::Result<Option<UnixMillis>> {
        let Some(store) = self.store()? else { return Ok(None) };
        let runs = store.runs_of(digest)?;
        Ok(runs.iter().filter(|run| !run.imported && run.started <= now).map(|run| run.started).max())
    }

    /// What the runs of these scenarios, by their names, sent that began on the day of `now`. What cannot be read is not known.
    pub(super) fn sent_today(&mut self, names: &[&str], now: UnixMillis) -> anyhow::Result<Bytes> {
        let Some(store) = self.store()? else { return Ok(Bytes(0)) };
        let today =
            |run: &RunListing| schedule::day_of(run.started) == schedule::day_of(now) && !run.imported;
        let mut runs = store.runs()?;
        runs.retain(|run| today(run) && names.contains(&run.scenario.as_str()));
        Ok(runs.iter().filter_map(|run| self.known(&store, run)).map(|run| run.bytes).sum())
    }

    /// What a run of a scenario is expected to send: as much as the largest of the last ones; `None` without any.
    pub(super) fn expected(&mut self, digest: &str) -> anyhow::Result<Option<Bytes>> {
        let Some(store) = self.store()? else { return Ok(None) };
        let runs = complete(&store, digest)?;
        Ok(runs.iter().take(EXPECTED).filter_map(|run| self.known(&store, run)).map(|run| run.bytes).max())
    }

    /// What a run comes to against those before it, or where none is named, the newest; `None` where there is no such run.
    pub(super) fn standing(
        &mut self,
        digest: &str,
        run: Option<&RunId>,
        measure: &Measure,
    ) -> anyhow::Result<Option<Standing>> {
        let Some(store) = self.store()? else { return Ok(None) };
        let mut runs = complete(&store, digest)?;
        if let Some(run) = run {
            runs.drain(..runs.iter().position(|listed| listed.id == *run).unwrap_or(runs.len()));
        }
        runs.truncate(SEARCHED);
        let Some(newest) = runs.first().and_then(|newest| self.known(&store, newest)) else {
            return Ok(None);
        };
        runs.reverse();
        let known: Vec<Arc<KeptRun>> = runs.iter().filter_map(|run| self.known(&store, run)).collect();
        let results: Vec<Arc<RunResults>> = known.iter().map(|run| Arc::clone(&run.results)).collect();
        let judged = known[known.len().saturating_sub(JUDGED)..].iter();
        let records =
            judged.map(|run| store.load(&run.results.run)).collect::<Result<Vec<RunRecord>, _>>()?;
        let chosen;
        let reference = match &measure.against {
            Against::Previous(back) => Reference::Earlier(*back),
            Against::Baseline(name) => {
                chosen = store.load(&store.baseline(name)?)?;
                Reference::Run(&chosen)
            }
        };
        let judged = analysis::newest_run(&records, reference, measure.max_loss.0);
        Ok(judged.map(|judged| Standing {
            began: newest.results.started,
            bytes: newest.bytes,
            results: Arc::clone(&newest.results),
            newest: judged,
            shifts: analysis::newly_worse(&results),
        }))
    }

    /// What is needed of a run, read where it is not known; `None` where it cannot be.
    fn known(&mut self, store: &Store, run: &RunListing) -> Option<Arc<KeptRun>> {
        let key = (run.id.clone(), run.started.0, run.made);
        if let Some(known) = self.known.get(&key) {
            return Some(Arc::clone(known));
        }
        let record = store.load(&run.id).ok()?;
        let read = Arc::new(KeptRun {
            bytes: budget::bytes_sent(&record),
            results: Arc::new(analysis::run_results(&record)),
        });
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(key, Arc::clone(&read));
        Some(read)
    }
}

/// The complete runs of a scenario, newest first; those that tried the remedies of others measured something else.
fn complete(store: &Store, digest: &str) -> anyhow::Result<Vec<RunListing>> {
    let all = store.runs_of(digest)?;
    let measured = |run: &&RunListing| {
        let of_remedies = remedy_results::parent(&run.id, all.iter().map(|other| &other.id)).is_some();
        run.state == RunState::Complete && !run.imported && !of_remedies
    };
    Ok(all.iter().filter(measured).cloned().collect())
}
