//! A scenario that has been checked, with all names resolved and defaults filled in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{
    factor::Factor,
    lab::{DeviceSettingKind, Lab},
    path::Path,
    probes::Probes,
    workload::Workload,
};
use samples::Design;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    pub name: String,
    pub title: String,
    pub about: String,
    pub lab: Lab,
    pub paths: Vec<Path>,
    pub workloads: Vec<Workload>,
    pub factors: Vec<Factor>,
    pub schedule: Schedule,
    #[serde(default)]
    pub probes: Probes,
    /// SHA-256 of the document's text, in hex. A stored run can be resumed only if this matches.
    pub digest: String,
}

impl Scenario {
    #[must_use]
    pub fn queue_factors(&self) -> Vec<String> {
        let queues = self.factors.iter().filter(|factor| factor.varies(DeviceSettingKind::Queues));
        queues.map(|factor| factor.name.to_string()).collect()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// The number of trials per result, which is also the number of blocks. With a budget or a precision,
    /// this is the maximum.
    pub trials: u32,
    pub pause: Nanos,
    pub seed: Option<u64>,
    pub design: Design,
    pub ports: Ports,
    #[serde(default)]
    pub at_once: bool,
}

/// How the client ports are chosen if a workload does not set them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ports {
    /// The same in all trials of a result, so that hashes of addresses and ports select the same queues, CPUs and
    /// links.
    #[default]
    Fixed,
    /// Chosen by the kernel and different in each trial, so that results include the variation between queues, CPUs
    /// and links.
    Vary,
}
