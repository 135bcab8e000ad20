//! The result of one end of a workload, for all kinds and protocols.

use samples::ThreadCpu;
use workload::{EndMeasurement, StreamEnd};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome<M = EndMeasurement> {
    pub measured: M,
    pub threads: Vec<ThreadCpu>,
}

pub type StreamOutcome = Outcome<StreamEnd>;

impl<M: Into<EndMeasurement>> Outcome<M> {
    #[must_use]
    pub fn of_any_kind(self) -> Outcome {
        Outcome { measured: self.measured.into(), threads: self.threads }
    }
}
