//! One trial as seen by its two ends.

use protocol::{EndReport, Observation};
use scenario::{Path, PlannedResult};

use crate::placement::Cpus;

/// One trial.
#[derive(Clone, Copy)]
pub(crate) struct Exchange<'a> {
    pub(crate) path: &'a Path,
    pub(crate) result: &'a PlannedResult,
    pub(crate) cpus: &'a Cpus,
    pub(crate) probed: bool,
}

/// The results of a trial.
pub(crate) struct Reports {
    pub(crate) client: EndReport,
    /// `None` for a workload with one end.
    pub(crate) server: Option<EndReport>,
    /// `None` without an observer.
    pub(crate) seen: Option<Observation>,
}
