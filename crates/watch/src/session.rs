//! The main loop of a watch.

use std::{
    process,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use jiff::Timestamp;
use lab::Stop;
use parking_lot::Mutex;
use samples::{RunId, UnixMillis};
use store::StoreError;
use units::Bytes;

use crate::{
    archive::Archive,
    budget::{Admission, admission},
    causes::causes,
    measure::{Against, Watched},
    metrics::Metrics,
    report::{MeasurementReport, Verdict},
    schedule,
    state::{Alert, JudgedRun, ScenarioState, WatchState},
};

/// Interval between checks of the stop flag.
const GLANCE: Duration = Duration::from_millis(50);
/// Delay before the next attempt if the store cannot be read.
const PAUSE: Duration = Duration::from_secs(10);

struct Due {
    earliest: UnixMillis,
    drawn: UnixMillis,
}

enum Attempt {
    Interrupted,
    NoResults(MeasurementReport),
    Judged(MeasurementReport, ScenarioState),
}

pub trait Host {
    fn digest(&mut self, scenario: &str) -> anyhow::Result<String>;
    fn measure(&mut self, watched: &Watched, resume: Option<&RunId>) -> anyhow::Result<RunEnd>;
    fn send_alert(&mut self, alert: Alert, report: &MeasurementReport) -> anyhow::Result<()>;
    fn report(&mut self, report: &MeasurementReport) -> anyhow::Result<()>;
    fn note(&mut self, text: &str);
}

#[derive(Debug)]
pub enum RunEnd {
    Stored(RunId),
    Failed(String),
    Interrupted,
}

/// Includes the worst verdict for [`Session::once`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchEnd {
    Interrupted,
    Finished(Option<Verdict>),
}

struct Remainder {
    resume: Option<RunId>,
    expected: Option<Bytes>,
}

pub struct Session<'a, H> {
    host: H,
    watched: Vec<Watched>,
    budget: Option<Bytes>,
    archive: Archive,
    state: WatchState,
    metrics: Arc<Mutex<Metrics>>,
    stop: &'a Stop,
    started: UnixMillis,
    seed: u64,
}

impl<'a, H: Host> Session<'a, H> {
    pub fn new(
        host: H,
        watched: Vec<Watched>,
        budget: Option<Bytes>,
        archive: Archive,
        state: WatchState,
        stop: &'a Stop,
    ) -> Self {
        let seed = Timestamp::now().as_nanosecond() as u64 ^ u64::from(process::id());
        let metrics = Metrics::new(watched.iter().map(|watched| watched.name.as_str()), budget);
        let metrics = Arc::new(Mutex::new(metrics));
        Self { host, watched, budget, archive, state, metrics, stop, started: now(), seed }
    }

    pub fn metrics(&self) -> Arc<Mutex<Metrics>> {
        Arc::clone(&self.metrics)
    }

    pub fn once(&mut self) -> anyhow::Result<WatchEnd> {
        let now = now();
        let mut worst = None;
        for place in 0..self.watched.len() {
            if self.due(place, now)?.earliest > now {
                continue;
            }
            let Some(verdict) = self.measure(place)? else { return Ok(WatchEnd::Interrupted) };
            worst = worst.max(Some(verdict));
        }
        Ok(WatchEnd::Finished(worst))
    }

    pub fn run_until(&mut self, until: Option<Instant>) -> anyhow::Result<WatchEnd> {
        let mut announced = None;
        while !self.is_over(until) {
            let (place, due) = match self.next() {
                Ok(next) => next,
                Err(error) => {
                    self.host.note(&format!("note: {}; will retry", causes(&error)));
                    self.wait(UnixMillis(now().0 + PAUSE.as_millis() as i64), until);
                    continue;
                }
            };
            if due <= now() {
                if self.measure(place)?.is_none() {
                    return Ok(WatchEnd::Interrupted);
                }
                continue;
            }
            if announced != Some((place, due)) {
                announced = Some((place, due));
                self.announce(place, due);
            }
            self.wait(due, until);
        }
        Ok(WatchEnd::Finished(None))
    }

    fn next(&self) -> anyhow::Result<(usize, UnixMillis)> {
        let now = now();
        let due = (0..self.watched.len()).map(|place| self.due(place, now).map(|due| (due.drawn, place)));
        let due = due.collect::<anyhow::Result<Vec<_>>>()?;
        let (at, place) = due.into_iter().min().context("the plan has no measurements")?;
        Ok((place, at))
    }

    /// Takes attempts by other processes into account.
    fn due(&self, place: usize, now: UnixMillis) -> anyhow::Result<Due> {
        let watched = &self.watched[place];
        let timing = watched.measure.timing;
        let remembered = self.state.of(&watched.name, &watched.digest);
        let tried = remembered.tried.filter(|tried| *tried <= now);
        // Another process may have repeated the failed measurement since then.
        let is_completed = |failed: &UnixMillis| -> anyhow::Result<bool> {
            let completed = self.archive.completed(&watched.digest)?;
            Ok(completed.is_some_and(|start| start.0 + (timing.every.0 / 2_000_000) as i64 > failed.0))
        };
        if let Some(failed) = tried.filter(|_| remembered.has_failed)
            && !is_completed(&failed)?
        {
            let again = timing.again(failed);
            return Ok(Due { earliest: again, drawn: again });
        }
        let last = self.archive.last(&watched.digest, now)?.max(tried);
        // A measurement that has never run waits for its time of day, if it has one.
        let started = timing.at.map(|_| self.started);
        Ok(Due { earliest: timing.earliest(last), drawn: timing.due(last.or(started), self.seed) })
    }

    fn is_over(&self, until: Option<Instant>) -> bool {
        self.stop.is_asked() || until.is_some_and(|until| Instant::now() >= until)
    }

    /// Uses the wall clock, which continues while the machine is suspended.
    fn wait(&mut self, due: UnixMillis, until: Option<Instant>) {
        let day = schedule::day_of(now());
        while !self.is_over(until) && now() < due {
            thread::sleep(GLANCE);
            if schedule::day_of(now()) != day {
                self.count_bytes();
                return;
            }
        }
    }

    fn announce(&mut self, place: usize, due: UnixMillis) {
        let at = Timestamp::from_millisecond(due.0).map(|at| at.strftime("%Y-%m-%d %H:%M:%S").to_string());
        if let Ok(at) = at {
            self.host.note(&format!("next: {} at {at} UTC", self.watched[place].name));
        }
    }

    fn measure(&mut self, place: usize) -> anyhow::Result<Option<Verdict>> {
        let at = Timestamp::now();
        let now = UnixMillis(at.as_millisecond());
        let blank = MeasurementReport::new(at, &self.watched[place].name, self.budget);
        let outcome = self.attempt(place, now, &blank);
        let Watched { name, digest, .. } = &self.watched[place];
        let before = ScenarioState { tried: Some(now), ..self.state.of(name, digest) };
        let (report, after) = match outcome {
            Ok(Attempt::Judged(report, after)) => (report, after),
            Ok(Attempt::NoResults(report)) => (report, before.clone()),
            Ok(Attempt::Interrupted) => {
                let text = "interrupted: finished trials are stored; `plumb run --resume` continues the run";
                self.host.note(text);
                return Ok(None);
            }
            Err(error) => (blank.without_results(Verdict::Failed, causes(&error)), before.clone()),
        };
        let failed = report.verdict == Verdict::Failed;
        let alert = if failed && !before.has_failed { Some(Alert::Failed) } else { report.alert };
        let after = ScenarioState { tried: Some(now), has_failed: failed, ..after };
        self.metrics.lock().count(name, report.verdict);
        self.count_bytes();
        let bytes_today = self.metrics.lock().used.unwrap_or_default();
        let report = MeasurementReport { alert, bytes_today, ..report };
        // If the alert could not be sent, keep the old state, so that the next measurement sends it again.
        let after =
            if self.send_alert(&report) { after } else { ScenarioState { has_failed: failed, ..before } };
        if let Err(error) = self.state.keep(&report.scenario, after) {
            self.host.note(&format!("warning: {}", causes(&error)));
        }
        self.host.report(&report)?;
        Ok(Some(report.verdict))
    }

    fn attempt(
        &mut self,
        place: usize,
        now: UnixMillis,
        blank: &MeasurementReport,
    ) -> anyhow::Result<Attempt> {
        let without_results =
            |verdict, reason| Attempt::NoResults(blank.clone().without_results(verdict, reason));
        let watched = &mut self.watched[place];
        // The scenario file may have changed.
        watched.digest = self.host.digest(&watched.measure.scenario)?;
        let digest = watched.digest.clone();
        let remembered = self.state.of(&watched.name, &digest);
        let Remainder { resume, expected } = self.remainder(place, now, &remembered)?;
        let used = self.sent_today(now)?;
        match admission(self.budget, used, expected) {
            Admission::Fits => {}
            Admission::Unknown => self.host.note(&format!(
                "note: no stored run of {}, so the bytes it will send are unknown",
                self.watched[place].name
            )),
            Admission::Skipped => {
                return Ok(without_results(Verdict::Skipped, self.no_room(used, expected)));
            }
        }
        match self.host.measure(&self.watched[place], resume.as_ref())? {
            RunEnd::Stored(run) => self.judge(place, run, blank, &remembered),
            RunEnd::Failed(reason) => {
                // If the store is unreadable, the report does not name a run.
                let partial = || self.archive.unfinished(&digest, now).ok().flatten().map(|(run, _)| run);
                let run = resume.or_else(partial);
                let report = blank.clone().without_results(Verdict::Failed, reason);
                Ok(Attempt::NoResults(MeasurementReport { run, ..report }))
            }
            RunEnd::Interrupted => Ok(Attempt::Interrupted),
        }
    }

    /// Only resumes a run that started within the last interval.
    fn remainder(
        &mut self,
        place: usize,
        now: UnixMillis,
        remembered: &ScenarioState,
    ) -> anyhow::Result<Remainder> {
        let Watched { measure, digest, .. } = &self.watched[place];
        let since = UnixMillis(now.0 - (measure.timing.every.0 / 1_000_000) as i64);
        let resume = if remembered.has_failed { self.archive.unfinished(digest, since)? } else { None };
        let (resume, sent) = resume.map_or((None, Bytes(0)), |(run, sent)| (Some(run), sent));
        let expected = self.archive.expected(digest)?.map(|whole| Bytes(whole.0.saturating_sub(sent.0)));
        Ok(Remainder { resume, expected })
    }

    fn judge(
        &mut self,
        place: usize,
        run: RunId,
        blank: &MeasurementReport,
        remembered: &ScenarioState,
    ) -> anyhow::Result<Attempt> {
        let Watched { measure, name, digest } = &self.watched[place];
        let standing = self.archive.standing(digest, &run, measure, remembered)?;
        let standing = standing.with_context(|| format!("run {run} is incomplete or not stored"))?;
        let (alert, after) = remembered.after(JudgedRun {
            run: &run,
            started: standing.stored.results.started,
            gate: standing.compared.as_ref().and_then(|it| Some((&it.a.id, it.gate.as_ref()?))),
            has_baseline: matches!(measure.against, Against::Baseline(_)),
            shifts: &standing.shifts,
        });
        self.metrics.lock().take(name, &standing.stored, !after.regressions.is_empty());
        Ok(Attempt::Judged(blank.clone().of_run(run, &standing, alert), after))
    }

    fn no_room(&self, used: Bytes, expected: Option<Bytes>) -> String {
        let budget = self.budget.unwrap_or_default();
        let wants = match expected {
            Some(expected) => format!("it may send {expected}"),
            None => "its size is unknown".to_owned(),
        };
        format!("{wants}, and {used} of today's budget of {budget} are used")
    }

    fn send_alert(&mut self, report: &MeasurementReport) -> bool {
        let Some(alert) = report.alert else { return true };
        let sent = self.host.send_alert(alert, report);
        if let Err(error) = &sent {
            self.host.note(&format!("warning: the alert failed: {}", causes(error)));
        }
        sent.is_ok()
    }

    fn sent_today(&mut self, now: UnixMillis) -> Result<Bytes, StoreError> {
        let names: Vec<&str> = self.watched.iter().map(|watched| watched.name.as_str()).collect();
        self.archive.sent_today(&names, now)
    }

    pub fn load_stored_runs(&mut self) {
        for watched in &self.watched {
            // Ignore errors: they are reported when the run is needed.
            if let Ok(Some(newest)) = self.archive.latest(&watched.digest) {
                let is_lost = !self.state.of(&watched.name, &watched.digest).regressions.is_empty();
                self.metrics.lock().take(&watched.name, &newest, is_lost);
            }
        }
        self.count_bytes();
    }

    fn count_bytes(&mut self) {
        if let Ok(used) = self.sent_today(now()) {
            self.metrics.lock().used = Some(used);
        }
    }
}

#[must_use]
pub fn now() -> UnixMillis {
    UnixMillis(Timestamp::now().as_millisecond())
}

#[cfg(test)]
mod tests;
