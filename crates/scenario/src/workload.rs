//! A workload: what is sent over which paths, with every default filled in.

use load::{Load, Placement};
use serde::{Deserialize, Serialize};

use crate::names::{PathName, WorkloadName};

/// A workload of the scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Its name.
    pub name: WorkloadName,
    /// What is sent.
    pub load: Load,
    /// Where the ends run.
    pub placement: Placement,
    /// The paths it runs on, in the order of the document.
    pub paths: Vec<PathName>,
}
