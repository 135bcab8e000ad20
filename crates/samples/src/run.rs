//! A run: all the trials of one scenario, with where and how they were made.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

use crate::{
    design::{CellEnd, Design},
    environment::Environment,
    imported::WorkloadSource,
    observed::{MissingProbe, ProbeKind},
    origin::Origin,
    remedy_trials::RemedyTrials,
    time::UnixMillis,
    trial::Trial,
};

/// The version of [`RunRecord`]'s shape. A reader refuses a newer one; an older one is read by `earlier.rs`.
pub const SCHEMA: u32 = 3;

/// The identity of a run: the scenario's name and the time of its start, such as `quick-20261121-113015`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RunId(pub String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How far a run got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// Begun and not ended: under way, or its controller died. It can be resumed.
    Unfinished,
    /// Every planned trial was made or skipped with a reason.
    Complete,
}

/// What identifies and surrounds the trials of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunHeader {
    /// [`SCHEMA`] when it was written.
    pub schema: u32,
    /// Its identity.
    pub id: RunId,
    pub scenario: ScenarioRecord,
    /// The seed of the order of trials.
    pub seed: u64,
    /// Trials of each cell that were planned.
    pub blocks: u32,
    /// All trials that were planned, the baseline's repetitions included.
    pub planned: u32,
    /// When it began.
    pub started: UnixMillis,
    /// How far it got.
    pub state: RunState,
    /// The version of plumb.
    pub tool: String,
    /// Where its numbers come from.
    #[serde(default)]
    pub origin: Origin,
    /// How its trials were chosen.
    #[serde(default)]
    pub design: Design,
    /// The other run whose remedies it tries, if it does.
    #[serde(default)]
    pub tries: Option<RemedyTrials>,
    /// The probes that ran in its probed trials.
    #[serde(default)]
    pub probes: Vec<ProbeKind>,
    /// Those that were asked for and cannot run on the machine.
    #[serde(default)]
    pub missing_probes: Vec<MissingProbe>,
    /// The machine, as it was when the run began; `None` when nobody recorded it.
    pub environment: Option<Environment>,
    /// The virtual machines that were booted for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<BootedMachine>,
    /// The paths that were measured.
    pub paths: Vec<PathRecord>,
    /// The cells, in the order of the scenario.
    pub cells: Vec<CellRecord>,
}

/// A scenario, kept whole so that a run can be resumed and read without its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScenarioRecord {
    pub name: String,
    pub title: String,
    /// What it shows.
    pub about: String,
    /// SHA-256 of its text, in hex.
    pub digest: String,
    pub text: String,
}

/// A virtual machine that was booted for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootedMachine {
    pub host: String,
    /// From its start until its kernel's first process ran.
    pub booted: Option<Nanos>,
    /// From its start until its agent answered.
    pub ready: Nanos,
    /// Memory of its monitor's process that was in RAM when the run began, the guest's with it.
    pub resident: Option<Bytes>,
}

impl ScenarioRecord {
    /// The command that measured, where no scenario did: `plumb client`, `plumb ping`.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        self.text.starts_with("plumb ").then_some(self.text.as_str())
    }
}

/// A path that was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathRecord {
    pub name: String,
    /// What it shows.
    pub about: String,
    /// The client's end, `host:device`.
    pub from: String,
    /// The server's end, `host:device`.
    pub to: String,
    /// The layers between, each once, in order.
    pub layers: Vec<String>,
    /// The devices that a packet passes, `host:device`, in order.
    pub devices: Vec<String>,
    /// Whether it is the baseline.
    pub baseline: bool,
}

/// The only layer of a path between hosts that exist already.
const NETWORK: &str = "network";

impl PathRecord {
    /// Whether these layers are of a path between hosts that exist already: for it no lab was made.
    #[must_use]
    pub fn exists(layers: &[String]) -> bool {
        layers == [NETWORK]
    }
}

/// A cell: what its trials share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellRecord {
    /// Its identity.
    pub id: String,
    pub path: String,
    /// Its workload's name.
    pub workload: String,
    /// Levels of the factors that apply, by label.
    pub levels: BTreeMap<String, String>,
    pub sent: WorkloadSource,
    /// Where the ends run: `free`, `same-cpu` or `cross-cpu`; `unknown` where nobody recorded it.
    pub placement: String,
    /// Whether it is the baseline of its workload.
    pub baseline: bool,
}

/// A cell that could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedCell {
    pub cell: String,
    /// Why: what is missing and, where there is one, the remedy.
    pub because: String,
}

/// A run as it is kept and handed on: everything that was recorded, nothing computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// What identifies and surrounds it.
    pub header: RunHeader,
    /// The trials, in the order in which they were made.
    pub trials: Vec<Trial>,
    /// Cells that could not be measured.
    pub skipped: Vec<SkippedCell>,
    /// Why each cell got no more trials, where that is settled.
    #[serde(default)]
    pub ends: Vec<CellEnd>,
    /// Where it was resumed on another machine or kernel than the one before, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machine_changes: Vec<MachineChange>,
    /// What of it was kept and cannot be read any more; everything else is as it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadablePart>,
}

/// A run that went on elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineChange {
    /// When it went on.
    pub at: UnixMillis,
    /// Trials that were there already.
    pub trials_before: u32,
    /// What it went on on.
    pub environment: Environment,
}

impl MachineChange {
    /// Whether trials made on both machines are of one kind: same kernel, same processors.
    #[must_use]
    pub fn is_same(one: &Environment, other: &Environment) -> bool {
        let compared = |machine: &Environment| {
            (machine.kernel.clone(), machine.cpus, machine.cpu_model.clone(), machine.inside.is_some())
        };
        compared(one) == compared(other)
    }
}

/// A part of a run that was kept and cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadablePart {
    /// `trial 7`.
    pub what: String,
    pub because: String,
}

impl RunRecord {
    /// A run of which nothing was skipped, settled or altered.
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

    /// The machine that it was made on last.
    #[must_use]
    pub fn last_machine(&self) -> Option<&Environment> {
        let changed = self.machine_changes.last().map(|change| &change.environment);
        changed.or(self.header.environment.as_ref())
    }

    /// Leaves out all cells but these, with their trials.
    pub fn retain_cells(&mut self, keep: impl Fn(&CellRecord) -> bool) {
        self.header.cells.retain(keep);
        let kept: BTreeSet<&str> = self.header.cells.iter().map(|cell| cell.id.as_str()).collect();
        self.trials.retain(|trial| kept.contains(trial.cell.as_str()));
        self.skipped.retain(|skip| kept.contains(skip.cell.as_str()));
        self.ends.retain(|end| kept.contains(end.cell.as_str()));
    }
}

/// Where the records of a run go as they are made.
pub trait Sink {
    /// Why a record could not be kept.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Keeps the header of a new run.
    ///
    /// # Errors
    /// When it cannot be kept; nothing was kept then.
    fn begin(&mut self, header: &RunHeader) -> Result<(), Self::Error>;

    /// Keeps a finished trial, whole or not at all; one with discarded attempts in the place of the last of these, if
    /// that was kept.
    ///
    /// # Errors
    /// When it cannot be kept; nothing was kept then.
    fn trial(&mut self, run: &RunId, trial: &Trial) -> Result<(), Self::Error>;

    /// Keeps that a cell was skipped; saying so again changes nothing.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn skipped(&mut self, run: &RunId, skipped: &SkippedCell) -> Result<(), Self::Error>;

    /// Keeps why a cell gets no more trials; a later word replaces an earlier one.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn ended(&mut self, run: &RunId, end: &CellEnd) -> Result<(), Self::Error>;

    /// Keeps that the run goes on on another machine.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn machine_changed(&mut self, run: &RunId, change: &MachineChange) -> Result<(), Self::Error>;

    /// Marks the run as complete.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn complete(&mut self, run: &RunId) -> Result<(), Self::Error>;
}
