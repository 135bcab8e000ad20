//! Parameters of a run.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::PathBuf,
    sync::Arc,
};

use fleet::Controller;
use samples::{RemedyTrials, RunId, RunRecord, SkippedResult};
use scenario::{Path, PathName, Plan, Scenario};

/// Parameters of a run.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    pub scenario: &'a Scenario,
    /// The scenario's text, stored with the run.
    pub text: &'a str,
    pub plan: &'a Plan,
    /// The ID of the run, equal to that of `resume` if set.
    pub id: RunId,
    /// The run with the remedies to try.
    pub remedy_trials: Option<&'a RemedyTrials>,
    /// The stored part of a run to resume.
    pub resume: Option<&'a RunRecord>,
    /// The program for agents (its `agent` personality).
    pub agent: PathBuf,
    /// Path to Firecracker. Default: from `PATH`.
    pub firecracker: Option<PathBuf>,
    /// The version of plumb.
    pub tool: &'a str,
    /// Whether to store disturbed trials as they are instead of repeating them.
    pub keep_disturbed: bool,
    pub hosts: ExistingHostUse,
    /// Connection to the fleet, for hosts that are members.
    pub fleet: Option<Arc<Controller>>,
    /// In a virtual hypervisor booted for this run: the reason for it.
    pub inside: Option<&'a str>,
}

/// How to use existing hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExistingHostUse {
    /// Whether the agent program stays on the host for later runs.
    pub cache: bool,
    /// Whether to wait for another run on the host instead of failing.
    pub wait: bool,
}

impl Default for ExistingHostUse {
    fn default() -> Self {
        Self { cache: true, wait: true }
    }
}

/// Skipped results by ID.
pub(crate) type Skips = BTreeMap<String, SkippedResult>;

/// Paths with planned results.
pub(crate) fn planned_paths<'a>(request: &'a Request<'_>) -> impl Iterator<Item = &'a Path> {
    let planned: HashSet<&PathName> = request.plan.results.iter().map(|result| &result.path).collect();
    request.scenario.paths.iter().filter(move |path| planned.contains(&path.name))
}

/// Paths by result.
pub(crate) fn paths_of<'a>(request: &'a Request<'_>) -> Vec<&'a Path> {
    let paths: HashMap<&PathName, &Path> =
        request.scenario.paths.iter().map(|path| (&path.name, path)).collect();
    request.plan.results.iter().map(|result| paths[&result.path]).collect()
}
