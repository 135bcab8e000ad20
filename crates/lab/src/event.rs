//! Progress events of a run.

use protocol::DesignDecision;
use samples::{RunHeader, SkippedResult, Trial};
use scenario::{PlannedResult, PlannedTrial};
use units::Nanos;
use workload::LiveRate;

#[derive(Debug)]
pub enum Event<'a> {
    /// A step starts, such as creating the lab.
    Step(&'a str),
    /// A machine starts to boot, or boots again after a hang.
    Boots {
        host: &'a str,
    },
    /// The machine's agent has greeted.
    Booted {
        host: &'a str,
        within: Nanos,
    },
    /// The lab exists and the run starts.
    Begun(&'a RunHeader),
    Trial {
        planned: &'a PlannedTrial,
        result: &'a PlannedResult,
    },
    /// The live rate of the current trial over the last 0.1 s.
    Rate {
        /// Since the start of the trial.
        elapsed: Nanos,
        rate: &'a LiveRate,
    },
    /// A block starts, or the last one ended.
    Decided(&'a DesignDecision),
    Kept(&'a Trial),
    /// A result is skipped for the rest of the run.
    Skipped(&'a SkippedResult),
    /// A message to the user.
    Notice(&'a str),
}

/// Receives events.
pub trait Observer {
    /// Must return quickly.
    fn event(&mut self, event: &Event<'_>);
}

impl<F: FnMut(&Event<'_>)> Observer for F {
    fn event(&mut self, event: &Event<'_>) {
        self(event);
    }
}
