//! What a run tells while it is under way.

use protocol::DesignDecision;
use samples::{RunHeader, SkippedCell, Trial};
use scenario::{Cell, PlannedTrial};
use units::Nanos;
use workload::LiveRate;

/// Something that happened in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// A step begins: raising, settling, lowering.
    Step(&'a str),
    /// A machine that boots for the run is started; again, where its first start hung.
    Boots {
        host: &'a str,
    },
    /// Its agent has greeted.
    Booted {
        host: &'a str,
        within: Nanos,
    },
    /// The lab stands and the run begins.
    Begun(&'a RunHeader),
    /// A trial begins.
    Trial {
        planned: &'a PlannedTrial,
        cell: &'a Cell,
    },
    /// A trial is under way: the live rate over the last tenth of a second.
    Rate {
        /// Since the trial's start.
        elapsed: Nanos,
        rate: &'a LiveRate,
    },
    /// A block begins, or the last has ended: what is still measured, and how much of it.
    Decided(&'a DesignDecision),
    Kept(&'a Trial),
    /// A cell is skipped from here on.
    Skipped(&'a SkippedCell),
    /// Something that the user should know.
    Notice(&'a str),
}

/// Who is told.
pub trait Observer {
    /// Takes note. Must not block.
    fn event(&mut self, event: &Event<'_>);
}

impl<F: FnMut(&Event<'_>)> Observer for F {
    fn event(&mut self, event: &Event<'_>) {
        self(event);
    }
}
