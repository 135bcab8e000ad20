//! The resolved scenario: checked, with all names resolved and defaults filled in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{factor::Factor, lab::Lab, path::Path, probes::Probes, workload::Workload};
use samples::Design;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Lower-case letters, digits and dashes.
    pub name: String,
    pub title: String,
    pub about: String,
    pub lab: Lab,
    /// In document order; exactly one path is the baseline.
    pub paths: Vec<Path>,
    pub workloads: Vec<Workload>,
    pub factors: Vec<Factor>,
    pub schedule: Schedule,
    #[serde(default)]
    pub probes: Probes,
    /// SHA-256 of the document's text, in hex. A stored run is resumed only if it matches.
    pub digest: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Trials per result, which is the number of blocks. With a budget or a precision, the maximum.
    pub trials: u32,
    pub pause: Nanos,
    /// Seed of the order; `None` derives one from the clock. It is printed and stored.
    pub seed: Option<u64>,
    pub design: Design,
    pub ports: Ports,
    #[serde(default)]
    pub at_once: bool,
}

/// Client ports of workloads that do not set them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ports {
    /// The same in all trials of a result, so that hashes of addresses and ports select the same queues, CPUs and
    /// links.
    #[default]
    Fixed,
    /// Chosen by the kernel: different in each trial, so that these choices contribute to the variation.
    Vary,
}
