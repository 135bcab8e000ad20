//! The findings of one run, as one document.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    alternatives::{MatchedPairs, Ranking},
    answer::Answer,
    cell::CellSummary,
    claim::Finding,
    estimate::NoiseFloor,
    ladder::{FactorEffect, Ladder},
    pair_matrix::PairMatrix,
    probed::RunProbes,
};
use samples::{
    BootedMachine, Design, Environment, MachineChange, Origin, PathRecord, RunId, RunState, SkippedCell,
    UnixMillis, UnreadablePart,
};

/// The version of [`Findings`]' shape. A reader refuses another one.
pub const SCHEMA: u32 = 7;

/// Everything that analysis says of one run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Findings {
    /// [`SCHEMA`] when it was written.
    pub schema: u32,
    pub run: RunSummary,
    /// Every measured cell, in the order of the scenario.
    pub cells: Vec<CellSummary>,
    /// What the baseline differs from itself by: one for each workload that has trials enough.
    pub noise: Vec<NoiseFloor>,
    /// What each layer costs: one ladder for each workload and setting of the factors that it holds at.
    pub ladders: Vec<Ladder>,
    /// What each factor's levels change against its first one.
    pub effects: Vec<FactorEffect>,
    /// Which path is best: one for each workload and setting at which three or more were measured, where paths are
    /// alternatives and not layers upon each other.
    pub rankings: Vec<Ranking>,
    /// What hosts measured against each other: one for each workload and setting where three or more did, instead of a ranking.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matrices: Vec<PairMatrix>,
    /// What a word in the names of paths brings, such as `vhost`: one for each workload that has cells with and without it.
    pub twins: Vec<MatchedPairs>,
    /// What a sweep comes to: one for each workload whose cells form a sweep.
    pub answers: Vec<Answer>,
    /// What probes watched, and what they cost.
    pub probes: RunProbes,
    /// Claims, the most severe first.
    pub claims: Vec<Finding>,
    /// Cells that could not be measured.
    pub skipped: Vec<SkippedCell>,
    /// What the reader has to know before believing any of it, in full sentences: emulation, an unfinished
    /// run, too few trials, a loaded host.
    pub caveats: Vec<String>,
}

/// The head of a report.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunSummary {
    /// Its identity.
    pub id: RunId,
    /// The scenario's name.
    pub scenario: String,
    /// The scenario's title.
    pub title: String,
    /// What the scenario shows.
    pub about: String,
    /// When it began.
    pub started: UnixMillis,
    /// How far it got.
    pub state: RunState,
    /// The seed of the order of its trials.
    pub seed: u64,
    /// Trials of each cell that were planned.
    pub blocks: u32,
    /// All trials planned.
    pub planned: u32,
    /// All trials made.
    pub made: u32,
    /// The version of plumb that measured.
    pub tool: String,
    /// Where its numbers come from.
    pub origin: Origin,
    /// How its trials were chosen.
    pub design: Design,
    /// The machine; `None` when nobody recorded it.
    pub environment: Option<Environment>,
    /// The virtual machines that were booted for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<BootedMachine>,
    /// Where it was resumed on another machine or kernel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machine_changes: Vec<MachineChange>,
    /// What of it was kept and cannot be read any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadablePart>,
    pub paths: Vec<PathRecord>,
}
