//! A run that a controller in another machine conducts for the one here: what it is told, and what it tells.

use samples::{CellEnd, MachineChange, RemedyTrials, RunHeader, RunId, RunRecord, SkippedCell, Trial};
use scenario::{Cell, Plan, PlannedTrial};
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::message::Hello;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToConductor {
    /// First.
    Hello(Hello),
    /// A run to be conducted; there is one.
    Conduct(Box<Commission>),
    /// The user asks for the end.
    Stop,
}

/// A run to be conducted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Commission {
    /// The scenario's text.
    pub text: String,
    /// The scenario expanded.
    pub plan: Plan,
    /// The identity of the run.
    pub id: RunId,
    /// Whose remedies it tries, if it does.
    pub tries: Option<RemedyTrials>,
    /// What is there of it already.
    pub resume: Option<RunRecord>,
    /// Whether trials that others disturbed are kept as they are.
    pub keep_disturbed: bool,
    /// Why it is conducted there.
    pub because: String,
}

/// From the conductor: what its run keeps and tells, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromConductor {
    /// First.
    Hello(Hello),
    /// To be kept: the header of a new run.
    Begin(Box<RunHeader>),
    /// To be kept: a finished trial.
    Trial(Box<Trial>),
    /// To be kept: a cell that cannot be measured.
    Skip(SkippedCell),
    /// To be kept: why a cell gets no more trials.
    End(CellEnd),
    /// To be kept: the run goes on on another machine.
    MachineChanged(Box<MachineChange>),
    /// To be kept: the run is complete.
    Complete,
    /// For whoever watches.
    Told(RunEvent),
    /// Last: so many trials were made.
    Over {
        /// Not counting those that were there already.
        made: u32,
        /// Cells that could not be measured.
        skipped: Vec<SkippedCell>,
    },
    /// Last: the run ended early.
    Failed {
        /// Why, naming operation and object.
        because: String,
        /// Whether because the end was asked for.
        interrupted: bool,
    },
}

/// What happens in a run, for whoever watches it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum RunEvent {
    /// A step begins.
    Step { text: String },
    /// A machine that boots for the run is started.
    Boots { host: String },
    /// Its agent has greeted.
    Booted { host: String, within: Nanos },
    /// The lab stands and the run begins.
    Begun,
    /// A trial begins.
    Trial { planned: PlannedTrial, cell: Box<Cell> },
    /// A trial is under way.
    Rate {
        /// Since its start.
        elapsed: Nanos,
        /// How fast it goes.
        per_second: f64,
        /// The same in words.
        text: String,
    },
    /// What the trials so far have decided.
    Decided(DesignDecision),
    /// Something that the user should know.
    Notice {
        /// In words.
        text: String,
    },
}

/// What is still measured, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesignDecision {
    /// The block that is under way, from 0.
    pub block: Option<u32>,
    /// Cells that get more trials in it because they can change the answer.
    pub open: Vec<String>,
    /// How many cells there are that can be measured.
    pub cells: u32,
    /// Whether the budget ends the run.
    pub out_of_time: bool,
    /// The most trials that may follow.
    pub trials_left: u32,
    /// The most time that they may take.
    pub most_left: Nanos,
}
