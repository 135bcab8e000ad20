//! The state that a watch keeps outside the store: sent alerts and passed runs. A lock allows only one watch per plan.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, TryLockError},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use anyhow::Context;
use findings::{Gate, GateOutcome, RunLevelShift};
use samples::{RunId, UnixMillis};
use serde::{Deserialize, Serialize};
use sys::{bounded_file, output_file};

use crate::measure::FARTHEST;

/// If there is no named baseline, a regression that lasts this many runs becomes the new reference.
const PERSISTENT: u32 = 12;

#[derive(Debug)]
pub struct WatchState {
    /// Locks a separate file, because replacing the state file would release its lock.
    _lock: File,
    path: PathBuf,
    scenarios: BTreeMap<String, ScenarioState>,
    /// Whether the state file was damaged. If so, alerts may be repeated.
    pub is_damaged: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenarioState {
    pub digest: String,
    pub tried: Option<UnixMillis>,
    pub has_failed: bool,
    pub passed: Vec<RunId>,
    pub regressions: BTreeSet<String>,
    /// The start of the first run with a regression, and the number of runs since then.
    pub regressed_since: Option<(UnixMillis, u32)>,
}

#[derive(Debug, Clone, Copy)]
pub struct JudgedRun<'a> {
    pub run: &'a RunId,
    pub started: UnixMillis,
    pub gate: Option<(&'a RunId, &'a Gate)>,
    pub has_baseline: bool,
    pub shifts: &'a [RunLevelShift],
}

impl WatchState {
    /// Returns `None` if another watch has locked the state.
    pub fn open(path: &Path) -> anyhow::Result<Option<Self>> {
        let cannot = || format!("cannot open {}, the state file of a watch", path.display());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(cannot)?;
        }
        let mut lock = path.as_os_str().to_owned();
        lock.push("-lock");
        let lock = output_file::open_lock(Path::new(&lock)).with_context(cannot)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error).with_context(cannot),
        }
        let scenarios = match read(path) {
            Ok(scenarios) => scenarios,
            Err(error) if error.kind() == ErrorKind::NotFound => Some(BTreeMap::new()),
            Err(error) => return Err(error).with_context(cannot),
        };
        let is_damaged = scenarios.is_none();
        Ok(Some(Self {
            _lock: lock,
            path: path.to_owned(),
            scenarios: scenarios.unwrap_or_default(),
            is_damaged,
        }))
    }

    /// Returns the time of the last attempt to measure this version of a scenario if that attempt failed. Needs no
    /// lock.
    #[must_use]
    pub fn failed(path: &Path, scenario: &str, digest: &str) -> Option<UnixMillis> {
        let known = read(path).ok()??;
        let known = known.get(scenario).filter(|known| known.digest == digest && known.has_failed)?;
        known.tried
    }

    /// If the scenario's text has changed, returns only the last attempt.
    pub fn of(&self, scenario: &str, digest: &str) -> ScenarioState {
        let known = self.scenarios.get(scenario).cloned().unwrap_or_default();
        if known.digest == digest {
            return known;
        }
        let ScenarioState { tried, has_failed, .. } = known;
        ScenarioState { digest: digest.to_owned(), tried, has_failed, ..ScenarioState::default() }
    }

    pub fn keep(&mut self, scenario: &str, remembered: ScenarioState) -> anyhow::Result<()> {
        self.scenarios.insert(scenario.to_owned(), remembered);
        let text = serde_json::to_string(&self.scenarios)?;
        output_file::replace(&self.path, text.as_bytes())
            .with_context(|| format!("cannot write to {}", self.path.display()))
    }
}

fn read(path: &Path) -> io::Result<Option<BTreeMap<String, ScenarioState>>> {
    let file = output_file::open_existing(path)?;
    Ok(bounded_file::read_ours(file).ok().and_then(|text| serde_json::from_str(&text).ok()))
}

impl ScenarioState {
    /// Save the returned state after the alert has been sent, not before.
    pub fn after(&self, judged: JudgedRun<'_>) -> (Option<Alert>, Self) {
        let mut next = Self { has_failed: false, ..self.clone() };
        let lost = judged.gate.map_or_else(Vec::new, |(_, gate)| gate.failed());
        if let Some((against, gate)) = judged.gate {
            let is_open = |result: &String| gate.undecided.iter().any(|open| open.result == *result);
            next.regressions.retain(|result| lost.contains(result) || is_open(result));
            next.regressions.extend(lost.iter().cloned());
            next.remember(judged, against, gate.outcome);
        }
        let is_known = |result: &String| self.regressions.contains(result);
        let alert = if !lost.iter().all(is_known) {
            Some(Alert::Regression)
        } else if next.regressions.is_empty() && lost.is_empty() && !self.regressions.is_empty() {
            Some(Alert::Recovered)
        } else {
            judged.shifts.iter().any(|shift| !is_known(&shift.result)).then_some(Alert::LevelShift)
        };
        (alert, next)
    }

    fn remember(&mut self, judged: JudgedRun<'_>, against: &RunId, outcome: GateOutcome) {
        if self.regressions.is_empty() {
            self.regressed_since = None;
            if outcome == GateOutcome::Passed {
                self.passed.push(judged.run.clone());
                let old = self.passed.len().saturating_sub(FARTHEST);
                self.passed.drain(..old);
            }
            return;
        }
        // Remember the reference of the first regression.
        if self.passed.is_empty() {
            self.passed.push(against.clone());
        }
        let (since, runs) = self.regressed_since.unwrap_or((judged.started, 0));
        self.regressed_since = Some((since, runs + 1));
        if runs + 1 >= PERSISTENT && !judged.has_baseline {
            (self.regressions, self.regressed_since, self.passed) =
                (BTreeSet::new(), None, vec![judged.run.clone()]);
        }
    }
}

/// Alerts are sent once, when the state changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Alert {
    Regression,
    /// A result settled at a new, worse level.
    LevelShift,
    Recovered,
    Failed,
}

impl Alert {
    pub fn word(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use findings::OpenQuestion;
    use workload::Metric;

    use super::*;

    /// Returns the alerts for consecutive runs. Each run is given by its regressed results, and `?` marks an
    /// inconclusive result.
    fn alerts(has_baseline: bool, runs: &[&[&str]]) -> Vec<Option<Alert>> {
        let mut known = ScenarioState { passed: vec![RunId("first".into())], ..ScenarioState::default() };
        let mut all = Vec::new();
        for (number, results) in runs.iter().enumerate() {
            let (open, lost): (Vec<&str>, Vec<&str>) =
                results.iter().partition(|result| result.starts_with('?'));
            let question =
                |result: &&str| OpenQuestion { result: result[1..].to_owned(), reason: String::new() };
            let outcome = match (lost.is_empty(), open.is_empty()) {
                (false, _) => GateOutcome::Regressed,
                (true, false) => GateOutcome::Undecided,
                (true, true) => GateOutcome::Passed,
            };
            let gate = Gate {
                threshold: 0.05,
                guard_limits: findings::GuardLimits::default(),
                violations: Vec::new(),
                tolerated: Vec::new(),
                outcome,
                regressions: lost.iter().map(|&result| result.to_owned()).collect(),
                undecided: open.iter().map(question).collect(),
            };
            let (run, against) = (RunId(format!("run-{number}")), RunId("first".into()));
            let started = UnixMillis(number as i64);
            let gate = Some((&against, &gate));
            let (alert, next) =
                known.after(JudgedRun { run: &run, started, gate, has_baseline, shifts: &[] });
            known = next;
            all.push(alert);
        }
        all
    }

    #[test]
    fn alerts_once_per_regression_and_recovery() {
        const LOST: Option<Alert> = Some(Alert::Regression);
        const RECOVERED: Option<Alert> = Some(Alert::Recovered);
        for has_baseline in [false, true] {
            for (runs, expected) in [
                (&[&[][..], &["a"], &["a"], &[], &[]][..], &[None, LOST, None, RECOVERED, None][..]),
                (&[&["a"], &["a", "b"], &["b"], &[]], &[LOST, LOST, None, RECOVERED]),
                (&[&["a"], &["?a"], &["a"], &["?a", "b"]], &[LOST, None, None, LOST]),
                (&[&["?a"], &["a"], &["?b"]], &[None, LOST, RECOVERED]),
                (&[&["a"], &[], &["a"]], &[LOST, RECOVERED, LOST]),
            ] {
                assert_eq!(alerts(has_baseline, runs), expected, "{runs:?}");
            }
        }
    }

    #[test]
    fn persistent_regression_becomes_normal_without_baseline() {
        let long = vec![&["a"][..]; PERSISTENT as usize + 3];
        let again = |alerts: &[Option<Alert>]| alerts.iter().filter(|alert| alert.is_some()).count();
        // A real watch would compare the thirteenth run with the twelfth. This test does not change the reference.
        assert_eq!(again(&alerts(false, &long)), 2);
        assert_eq!(again(&alerts(true, &long)), 1);
    }

    #[test]
    fn keeps_reference_during_regression() {
        let (run, against) = (RunId("second".into()), RunId("first".into()));
        let gate = Gate {
            threshold: 0.05,
            guard_limits: findings::GuardLimits::default(),
            violations: Vec::new(),
            tolerated: Vec::new(),
            outcome: GateOutcome::Regressed,
            regressions: vec!["a".into()],
            undecided: Vec::new(),
        };
        let judged = JudgedRun {
            run: &run,
            started: UnixMillis(7),
            gate: Some((&against, &gate)),
            has_baseline: false,
            shifts: &[],
        };
        let (_, next) = ScenarioState::default().after(judged);
        assert_eq!((next.passed, next.regressed_since), (vec![against], Some((UnixMillis(7), 1))));
    }

    #[test]
    fn alerts_on_other_level_shifts_during_regression() {
        let shift = |result: &str| RunLevelShift {
            result: result.to_owned(),
            metric: Metric::Throughput,
            before: 2.0,
            after: 1.0,
            since: RunId("first".into()),
        };
        let run = RunId("second".into());
        let known = ScenarioState { regressions: ["a".to_owned()].into(), ..ScenarioState::default() };
        for (result, expected) in [("a", None), ("b", Some(Alert::LevelShift))] {
            let shifts = &[shift(result)];
            let judged =
                JudgedRun { run: &run, started: UnixMillis(0), gate: None, has_baseline: false, shifts };
            assert_eq!(known.after(judged).0, expected, "{result}");
        }
    }

    #[test]
    fn locks_plan_and_restores_state() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("runs.db.nightly.watch");
        let open = || WatchState::open(&path).expect("it opens");
        let mut state = open().expect("not locked");
        assert!(open().is_none(), "not locked by another watch");
        let known =
            ScenarioState { tried: Some(UnixMillis(7)), has_failed: true, ..state.of("quick", "text") };
        state
            .keep("quick", ScenarioState { regressions: ["a".to_owned()].into(), ..known.clone() })
            .expect("is written");
        state.keep("quick", known.clone()).expect("a shorter one is written");
        drop(state);
        let state = open().expect("not locked");
        assert_eq!(state.of("quick", "text"), known);
        let changed = state.of("quick", "another text");
        assert_eq!((changed.tried, changed.has_failed), (Some(UnixMillis(7)), true));
        drop(state);
        output_file::replace(&path, b"{").expect("ours");
        let state = open().expect("not locked");
        assert!(state.is_damaged && state.of("quick", "text").tried.is_none());
    }
}
