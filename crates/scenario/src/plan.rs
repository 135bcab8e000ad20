//! A plan: a scenario expanded into results, with their trials interleaved in randomised blocks.

use std::collections::BTreeMap;

use samples::{Arm, Design, ProbeKind};
use serde::{Deserialize, Serialize};
use units::Nanos;
use workload::{Placement, WorkloadSettings};

use crate::{
    family::Family,
    lab::DeviceSettings,
    names::{DeviceRef, FactorName, PathName, ResultId, WorkloadName},
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedResult {
    pub id: ResultId,
    pub path: PathName,
    pub workload: WorkloadName,
    pub levels: BTreeMap<FactorName, String>,
    pub load: WorkloadSettings,
    pub placement: Placement,
    pub devices: BTreeMap<DeviceRef, DeviceSettings>,
    pub baseline: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTrial {
    pub index: u32,
    pub block: u32,
    pub result: usize,
    pub arm: Arm,
    /// Trials of a block that have the same number run simultaneously. A trial without a number runs alone.
    #[serde(default)]
    pub round: Option<u32>,
}

impl PlannedTrial {
    #[must_use]
    pub fn is_simultaneous_with(&self, other: &Self) -> bool {
        self.block == other.block && self.round.is_some() && self.round == other.round
    }
}

/// The trials to run. An adaptive run may skip some.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub seed: u64,
    pub results: Vec<PlannedResult>,
    #[serde(default)]
    pub steps: Vec<Step>,
    pub trials: Vec<PlannedTrial>,
    pub pause: Nanos,
    pub design: Design,
    #[serde(default)]
    pub probes: Vec<ProbeKind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub result: usize,
    pub reference: usize,
}
