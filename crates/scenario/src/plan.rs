//! The plan: a scenario expanded to cells, and its trials in randomised, interleaved blocks.

use std::collections::BTreeMap;

use samples::{Arm, Design, ProbeKind};
use serde::{Deserialize, Serialize};
use units::Nanos;
use workload::{Placement, WorkloadSettings};

use crate::{
    lab::DeviceSettings,
    names::{CellId, DeviceRef, FactorName, PathName, WorkloadName},
    steps::Step,
};

/// What the trials of a run share: path, workload and levels of the factors, all resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Its identity.
    pub id: CellId,
    pub path: PathName,
    pub workload: WorkloadName,
    /// Levels of the factors that apply, by label.
    pub levels: BTreeMap<FactorName, String>,
    /// What is sent, with the levels put in.
    pub load: WorkloadSettings,
    /// Where the ends run.
    pub placement: Placement,
    /// Settings of every device of the lab that has any, with the levels put in.
    pub devices: BTreeMap<DeviceRef, DeviceSettings>,
    /// Whether it is the baseline of its workload: the baseline path at the first level of every factor.
    pub baseline: bool,
}

/// One trial to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTrial {
    /// Its place in the run, from 0.
    pub index: u32,
    /// Its block, from 0: every cell occurs once in each block (baselines twice), and once more where it is probed.
    pub block: u32,
    /// Which cell, by its place in [`Plan::cells`].
    pub cell: usize,
    /// Why.
    pub arm: Arm,
    /// Those of a block that have the same number are made at the same time; `None` is made alone.
    #[serde(default)]
    pub round: Option<u32>,
}

impl PlannedTrial {
    /// Whether both are made at the same time.
    #[must_use]
    pub fn is_beside(&self, other: &Self) -> bool {
        self.block == other.block && self.round.is_some() && self.round == other.round
    }
}

/// Every trial of a run, in order. With a budget or a precision, those that may be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The seed of the order: equal seeds give equal plans.
    pub seed: u64,
    /// The cells, in the order of the document.
    pub cells: Vec<Cell>,
    /// Which of them are compared with which, where the design asks.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// The trials, in the order in which they are made.
    pub trials: Vec<PlannedTrial>,
    /// Left between two trials.
    pub pause: Nanos,
    /// What lets cells end before all these trials are made.
    pub design: Design,
    /// What its probed trials are watched with.
    #[serde(default)]
    pub probes: Vec<ProbeKind>,
}
