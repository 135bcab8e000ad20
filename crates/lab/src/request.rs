//! The parameters of a run.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::PathBuf,
    sync::Arc,
};

use fleet::Controller;
use machine::Attached;
use samples::{RemedyTrials, RunId, RunRecord, SkippedResult};
use scenario::{DeviceRef, HostName, Path, PathName, Plan, Scenario};
use topology::Topology;

use crate::timeout_factors::TimeoutFactors;

#[derive(Debug, Clone)]
pub struct Request<'a> {
    pub scenario: &'a Scenario,
    pub text: &'a str,
    pub plan: &'a Plan,
    /// The ID of the run, or of the run to resume.
    pub id: RunId,
    pub remedy_trials: Option<&'a RemedyTrials>,
    pub resume: Option<&'a RunRecord>,
    pub agent: PathBuf,
    pub firecracker: Option<PathBuf>,
    pub tool: &'a str,
    pub keep_disturbed: bool,
    pub hosts: ExistingHostUse,
    pub fleet: Option<Arc<Controller>>,
    pub attachments: Arc<Attachments>,
    pub inside: Option<InsideHypervisor<'a>>,
}

#[derive(Debug, Clone, Copy)]
pub struct InsideHypervisor<'a> {
    pub(crate) reason: &'a str,
    pub(crate) timeout_factors: TimeoutFactors,
}

impl Request<'_> {
    pub(crate) fn timeout_factors(&self) -> TimeoutFactors {
        self.inside.map_or(TimeoutFactors::NONE, |inside| inside.timeout_factors)
    }
}

/// The hosts that are endpoints on this machine, and the devices between them.
#[derive(Debug, Default)]
pub struct Attachments {
    pub endpoints: BTreeMap<HostName, Attached>,
    /// Whether the agents run under the resource limits of the workloads at the endpoints.
    pub as_workload: bool,
    pub between: Vec<DeviceRef>,
    pub reader: Option<Topology>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExistingHostUse {
    pub cache: bool,
    pub wait: bool,
}

impl Default for ExistingHostUse {
    fn default() -> Self {
        Self { cache: true, wait: true }
    }
}

pub(crate) type Skips = BTreeMap<String, SkippedResult>;

pub(crate) fn planned_paths<'a>(request: &'a Request<'_>) -> impl Iterator<Item = &'a Path> {
    let planned: HashSet<&PathName> = request.plan.results.iter().map(|result| &result.path).collect();
    request.scenario.paths.iter().filter(move |path| planned.contains(&path.name))
}

pub(crate) fn paths_of<'a>(request: &'a Request<'_>) -> Vec<&'a Path> {
    let paths: HashMap<&PathName, &Path> =
        request.scenario.paths.iter().map(|path| (&path.name, path)).collect();
    request.plan.results.iter().map(|result| paths[&result.path]).collect()
}
