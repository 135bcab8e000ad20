//! The protocol with a controller in another machine that conducts a run.

use samples::{MachineChange, RemedyTrials, ResultEnd, RunHeader, RunId, RunRecord, SkippedResult, Trial};
use scenario::{Plan, PlannedResult, PlannedTrial};
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::message::Hello;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToNestedRun {
    /// First message.
    Hello(Hello),
    /// The run to conduct; sent once.
    Start(Box<Commission>),
    /// The user requests the end.
    Stop,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Commission {
    pub text: String,
    pub plan: Plan,
    pub id: RunId,
    /// The remedies to test, if any.
    pub remedy_trials: Option<RemedyTrials>,
    /// The existing part of a resumed run.
    pub resume: Option<RunRecord>,
    /// Whether to keep disturbed trials instead of repeating them.
    pub keep_disturbed: bool,
    /// Why the run is conducted there.
    pub reason: String,
}

/// Messages from a nested run: records to store and events, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromNestedRun {
    /// First message.
    Hello(Hello),
    /// Store the header of a new run.
    Begin(Box<RunHeader>),
    /// Store a finished trial.
    Trial(Box<Trial>),
    /// Store a result that cannot be measured.
    Skip(SkippedResult),
    /// Store why measuring a result stopped.
    End(ResultEnd),
    /// Store a change of machine.
    MachineChanged(Box<MachineChange>),
    /// Store that the run is complete.
    Complete,
    /// An event for display.
    Event(RunEvent),
    /// Last message of a successful run.
    Over {
        /// New trials of this session.
        completed: u32,
        /// Results that could not be measured.
        skipped: Vec<SkippedResult>,
    },
    /// Last message of a failed run.
    Failed {
        /// The reason, with operation and object.
        reason: String,
        /// Whether the end was requested.
        interrupted: bool,
    },
}

/// An event of a run, for display.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RunEvent {
    /// A step starts.
    Step { text: String },
    /// A virtual machine starts to boot.
    Boots { host: String },
    /// Its agent is connected.
    Booted { host: String, within: Nanos },
    /// The lab exists and trials start.
    Begun,
    /// A trial starts.
    Trial { planned: PlannedTrial, result: Box<PlannedResult> },
    /// Progress of a trial.
    Rate { elapsed: Nanos, per_second: f64, text: String },
    /// The decision after the trials so far.
    Decided(DesignDecision),
    /// A notice for the user.
    Notice { text: String },
}

/// The remaining work of an adaptive run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesignDecision {
    /// The current block, from 0.
    pub block: Option<u32>,
    /// Results with further trials because they can change the outcome.
    pub open: Vec<String>,
    pub results: u32,
    /// Whether the budget ends the run.
    pub out_of_time: bool,
    /// Maximum number of further trials.
    pub trials_left: u32,
    /// Maximum time of further trials.
    pub most_left: Nanos,
}
