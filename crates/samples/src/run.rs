//! A run: all trials of a scenario, and their context.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

use crate::{
    design::{Design, ResultEnd},
    environment::Environment,
    imported::WorkloadSource,
    observed::{MissingProbe, ProbeKind},
    origin::Origin,
    time::UnixMillis,
    trial::Trial,
};

/// The schema version of records. Other versions are rejected.
pub const SCHEMA: u32 = 1;

/// The run's ID: scenario name and start time, such as `quick-20261121-113015`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RunId(pub String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// In progress or interrupted. The run can be resumed.
    #[default]
    Unfinished,
    /// All planned trials were run, or skipped with a reason.
    Complete,
}

/// The context of a run's trials.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunHeader {
    /// [`SCHEMA`] at the time of writing.
    pub schema: u32,
    pub id: RunId,
    pub scenario: ScenarioRecord,
    /// Seed for the order of the trials.
    pub seed: u64,
    /// Planned trials per result.
    pub blocks: u32,
    /// Number of planned trials, including repetitions of baselines.
    pub planned: u32,
    pub started: UnixMillis,
    pub state: RunState,
    pub tool: String,
    #[serde(default)]
    pub origin: Origin,
    #[serde(default)]
    pub design: Design,
    /// The remedies that this run tests, if any.
    #[serde(default)]
    pub remedy_trials: Option<RemedyTrials>,
    /// Probes that are active in probed trials.
    #[serde(default)]
    pub probes: Vec<ProbeKind>,
    /// Requested probes that cannot run on the machine.
    #[serde(default)]
    pub missing_probes: Vec<MissingProbe>,
    /// The machine at the start of the run; `None` if not recorded.
    pub environment: Option<Environment>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<BootedMachine>,
    /// Factors that set the number of device queues. For imported runs, guessed from the factors' names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue_factors: Vec<String>,
    /// CPU limits of workloads that were already running at the start of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workload_limits: Vec<WorkloadLimit>,
    pub paths: Vec<PathRecord>,
    /// The results, in scenario order.
    pub results: Vec<ResultRecord>,
}

/// The complete scenario, so that a run can be resumed without the scenario file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScenarioRecord {
    pub name: String,
    pub title: String,
    pub about: String,
    /// SHA-256 of the scenario's text, in hex.
    pub digest: String,
    pub text: String,
}

/// A virtual machine booted for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootedMachine {
    pub host: String,
    /// Time from start to the first user-space process.
    pub booted: Option<Nanos>,
    /// Time from start to the agent's first message.
    pub ready: Nanos,
    /// Resident memory of the monitor at the start of the run, including guest memory.
    pub resident: Option<Bytes>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<VmSettings>,
    /// Release of the guest's kernel, e.g. `6.1.0-56-cloud-amd64`. `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
}

/// How a virtual machine is configured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VmSettings {
    /// The monitor, e.g. `qemu` or `firecracker`.
    pub monitor: String,
    /// The machine type, e.g. `q35`.
    pub board: String,
    pub vcpus: u32,
    pub memory: Bytes,
    pub queues: u32,
    /// Whether the host kernel, not the monitor, processes packets.
    pub vhost: bool,
}

/// The CPU limit of a workload, e.g. of a container, at an end of a path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadLimit {
    pub host: String,
    /// The endpoint as the user wrote it, e.g. `container:web`.
    pub endpoint: String,
    /// The limit in CPUs, e.g. 0.5.
    pub cpus: f64,
    /// The file that contains the quota, or another origin of the limit.
    pub source: String,
    /// Whether the limit also applied to the traffic.
    pub shared: bool,
}

impl ScenarioRecord {
    /// The command line of `plumb client` or `plumb ping`, if the run has no scenario.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        self.text.starts_with("plumb ").then_some(self.text.as_str())
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathRecord {
    pub name: String,
    pub about: String,
    /// The client's end, `host:device`.
    pub from: String,
    /// The server's end, `host:device`.
    pub to: String,
    /// Layers between the ends, in order, without duplicates.
    pub layers: Vec<String>,
    /// Devices on the path to the server, `host:device`, in order.
    pub devices: Vec<String>,
    pub baseline: bool,
}

/// The single layer of a path between existing hosts.
const NETWORK: &str = "network";

impl PathRecord {
    #[must_use]
    pub fn hosts(&self) -> [&str; 2] {
        [&self.from, &self.to].map(|end| end.split_once(':').map_or(end.as_str(), |(host, _)| host))
    }

    /// Returns whether a path with these layers connects existing hosts rather than hosts of a lab.
    #[must_use]
    pub fn exists(layers: &[String]) -> bool {
        layers == [NETWORK]
    }
}

/// A combination of path, workload and factor levels. Its trials produce one result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultRecord {
    pub id: String,
    pub path: String,
    pub workload: String,
    /// Levels of applicable factors, by label.
    pub levels: BTreeMap<String, String>,
    pub sent: WorkloadSource,
    /// CPU placement: `free`, `same-cpu`, `cross-cpu`, lists of CPUs, or `unknown` if not recorded.
    pub placement: String,
    pub baseline: bool,
}

/// A result that could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedResult {
    pub result: String,
    /// The missing capability, with an optional hint.
    pub reason: String,
}

/// A complete run as stored and transferred. Contains recorded data only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    pub header: RunHeader,
    /// The trials, in execution order.
    pub trials: Vec<Trial>,
    pub skipped: Vec<SkippedResult>,
    #[serde(default)]
    pub ends: Vec<ResultEnd>,
    /// Changes of machine or kernel when the run was resumed, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machine_changes: Vec<MachineChange>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadablePart>,
}

/// A run resumed on another machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineChange {
    pub at: UnixMillis,
    pub trials_before: u32,
    pub environment: Environment,
}

impl MachineChange {
    /// Whether the kernel and the CPUs are the same, so that trials can be combined.
    #[must_use]
    pub fn is_same(one: &Environment, other: &Environment) -> bool {
        let compared = |machine: &Environment| {
            (machine.kernel.clone(), machine.cpus, machine.cpu_model.clone(), machine.inside.is_some())
        };
        compared(one) == compared(other)
    }
}

/// A stored part of a run that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadablePart {
    /// The part, e.g. `trial 7`.
    pub part: String,
    pub reason: String,
}

impl RunRecord {
    #[must_use]
    pub const fn new(header: RunHeader, trials: Vec<Trial>) -> Self {
        Self {
            header,
            trials,
            skipped: Vec::new(),
            ends: Vec::new(),
            machine_changes: Vec::new(),
            unreadable: Vec::new(),
        }
    }

    #[must_use]
    pub fn last_machine(&self) -> Option<&Environment> {
        let changed = self.machine_changes.last().map(|change| &change.environment);
        changed.or(self.header.environment.as_ref())
    }

    pub fn retain_results(&mut self, keep: impl Fn(&ResultRecord) -> bool) {
        self.header.results.retain(keep);
        let retained: BTreeSet<&str> = self.header.results.iter().map(|result| result.id.as_str()).collect();
        self.trials.retain(|trial| retained.contains(trial.result.as_str()));
        self.skipped.retain(|skip| retained.contains(skip.result.as_str()));
        self.ends.retain(|end| retained.contains(end.result.as_str()));
    }
}

/// Stores the records of a run. Each call is atomic.
pub trait Sink {
    type Error: std::error::Error + Send + Sync + 'static;

    fn begin(&mut self, header: &RunHeader) -> Result<(), Self::Error>;

    /// Stores a trial. A trial with discarded attempts replaces the last of these attempts.
    fn trial(&mut self, run: &RunId, trial: &Trial) -> Result<(), Self::Error>;

    /// Stores a skipped result. Idempotent.
    fn skipped(&mut self, run: &RunId, skipped: &SkippedResult) -> Result<(), Self::Error>;

    /// Stores why measuring a result ended, replacing any earlier reason.
    fn ended(&mut self, run: &RunId, end: &ResultEnd) -> Result<(), Self::Error>;

    fn machine_changed(&mut self, run: &RunId, change: &MachineChange) -> Result<(), Self::Error>;

    fn complete(&mut self, run: &RunId) -> Result<(), Self::Error>;
}

/// A test of remedies suggested by another run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemedyTrials {
    /// The run that suggested the remedies.
    pub run: RunId,
    pub remedies: Vec<RemedyTrial>,
}

/// A remedy tested on a result. The same blocks contain trials with and without the remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemedyTrial {
    /// The finding that suggested the remedy.
    pub finding: String,
    /// The other run's result that the finding is about.
    pub result: String,
    /// The corresponding result of this run, without the remedy.
    pub without: String,
    /// The result of this run with the remedy.
    pub with: String,
}
