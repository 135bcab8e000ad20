//! The protocol for a run that a controller starts in another machine.

use samples::{MachineChange, RemedyTrials, ResultEnd, RunHeader, RunId, RunRecord, SkippedResult, Trial};
use scenario::{Plan, PlannedResult, PlannedTrial};
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{guest::GuestSymbols, message::Hello};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToNestedRun {
    Hello(Hello),
    /// The run to execute, sent once.
    Start(Box<Commission>),
    Stop,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Commission {
    pub text: String,
    pub plan: Plan,
    pub id: RunId,
    pub remedy_trials: Option<RemedyTrials>,
    pub resume: Option<RunRecord>,
    /// Whether to use disturbed trials instead of repeating them.
    pub keep_disturbed: bool,
    /// Why the run takes place in another machine.
    pub reason: String,
    /// Whether the controller counts instructions.
    pub counts: bool,
}

/// Messages from a nested run, in order: records to store and events to display.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromNestedRun {
    Hello(Hello),
    /// Sent before the first record if the controller counts instructions.
    Symbols(GuestSymbols),
    Begin(Box<RunHeader>),
    Trial(Box<Trial>),
    Skip(SkippedResult),
    End(ResultEnd),
    MachineChanged(Box<MachineChange>),
    Complete,
    Event(RunEvent),
    /// The last message of a successful run.
    Over {
        completed: u32,
        skipped: Vec<SkippedResult>,
    },
    Failed {
        reason: String,
        interrupted: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RunEvent {
    Step { text: String },
    Boots { host: String },
    Booted { host: String, within: Nanos },
    Begun,
    Trial { planned: PlannedTrial, result: Box<PlannedResult> },
    Rate { elapsed: Nanos, per_second: f64, text: String },
    Decided(DesignDecision),
    Notice { text: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesignDecision {
    pub block: Option<u32>,
    pub open: Vec<String>,
    pub results: u32,
    pub out_of_time: bool,
    pub trials_left: u32,
    pub most_left: Nanos,
}
