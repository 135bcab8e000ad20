//! Progress events of a run.

use protocol::DesignDecision;
use samples::{RunHeader, SkippedResult, Trial};
use scenario::{PlannedResult, PlannedTrial};
use units::Nanos;
use workload::LiveRate;

#[derive(Debug)]
pub enum Event<'a> {
    Step(&'a str),
    Boots {
        host: &'a str,
    },
    Booted {
        host: &'a str,
        within: Nanos,
    },
    Begun(&'a RunHeader),
    Trial {
        planned: &'a PlannedTrial,
        result: &'a PlannedResult,
    },
    /// The rate of the current trial over the last 0.1 s, for the live view.
    Rate {
        elapsed: Nanos,
        rate: &'a LiveRate,
    },
    Decided(&'a DesignDecision),
    Kept(&'a Trial),
    Skipped(&'a SkippedResult),
    Notice(&'a str),
}

pub trait Observer {
    fn event(&mut self, event: &Event<'_>);
}

impl<F: FnMut(&Event<'_>)> Observer for F {
    fn event(&mut self, event: &Event<'_>) {
        self(event);
    }
}
