//! What the numbers say: cells, ladders, effects, claims with evidence and remedy.
//!
//! Made by `analysis` from a stored run, read by `report`; complete in itself, so that a report needs
//! nothing else but the raw series that it folds away. Says nothing of how it was computed or is printed.

mod cell;
mod claim;
mod distribution;
mod document;
mod estimate;
mod ladder;
mod latency;
mod solo;
mod stream;

pub use cell::{CellSummary, CpuCost, EndSocket, Metric};
pub use claim::{Evidence, Finding, Remedy, Severity};
pub use distribution::{Bucket, Distribution};
pub use document::{Findings, RunSummary, SCHEMA};
pub use estimate::{Comparison, Difference, Estimate, Interval, NoiseFloor};
pub use ladder::{FactorEffect, Ladder, Rung};
pub use latency::{ConnectSummary, LatencySummary, OpenLoopSummary};
pub use solo::{
    LevelShift, SOLO_SCHEMA, Solo, SoloConnect, SoloFlow, SoloLevels, SoloOutcome, SoloRate, SoloStream,
    Spread,
};
pub use stream::{DatagramSummary, StreamSummary, TcpSummary};
