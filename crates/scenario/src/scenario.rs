//! The scenario as meant: checked, every name resolved, every default filled in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{factor::Factor, lab::Lab, path::Path, probes::Probes, workload::Workload};
use samples::Design;

/// A checked scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Its name: lower-case letters, digits and dashes.
    pub name: String,
    /// One line for lists.
    pub title: String,
    /// What it shows and how to read it.
    pub about: String,
    /// What has to stand.
    pub lab: Lab,
    /// The paths, in the order of the document; exactly one is the baseline.
    pub paths: Vec<Path>,
    pub workloads: Vec<Workload>,
    pub factors: Vec<Factor>,
    /// How it is run.
    pub schedule: Schedule,
    /// What its trials are watched with.
    #[serde(default)]
    pub probes: Probes,
    /// SHA-256 of the document's text, in hex: tells whether a stored run can be resumed.
    pub digest: String,
}

/// How a scenario is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Trials of each cell: the number of blocks. With a budget or a precision, the most that a cell gets.
    pub trials: u32,
    /// Left between two trials.
    pub pause: Nanos,
    /// The seed of the order; `None` takes one from the clock, printed and stored.
    pub seed: Option<u64>,
    /// What lets cells end before all their trials are made.
    pub design: Design,
    /// Where the client's ports come from.
    pub ports: Ports,
    /// Whether paths between hosts that exist already are measured at the same time where they share nothing.
    #[serde(default)]
    pub at_once: bool,
}

/// Where the client's ports come from, of loads that name none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ports {
    /// From the cell: every trial of it has the same, so that what is chosen by a hash of addresses and ports
    /// (queues, CPUs, links) is chosen alike each time.
    #[default]
    Fixed,
    /// From the kernel: others in every trial, so that such choices are among what varies.
    Vary,
}
