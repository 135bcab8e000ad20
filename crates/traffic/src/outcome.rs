//! What one end of a workload recorded, whatever the kind and the protocol.

use samples::ThreadCpu;
use workload::{EndMeasurement, StreamEnd};

/// What one end recorded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome<M = EndMeasurement> {
    pub measured: M,
    /// The CPU time of the traffic threads, warm-up included.
    pub threads: Vec<ThreadCpu>,
}

/// What one end of a stream recorded.
pub type StreamOutcome = Outcome<StreamEnd>;

impl<M: Into<EndMeasurement>> Outcome<M> {
    /// The same as one of any kind.
    #[must_use]
    pub fn of_any_kind(self) -> Outcome {
        Outcome { measured: self.measured.into(), threads: self.threads }
    }
}
