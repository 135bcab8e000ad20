//! What the numbers say: cells, ladders, effects, claims with evidence and remedy.
//!
//! Made by `analysis` from a stored run, read by `report`; complete in itself, so that a report needs
//! nothing else but the raw series that it folds away. Says nothing of how it was computed or is printed.

mod cell;
mod claim;
mod document;
mod estimate;
mod ladder;

pub use cell::{CellSummary, CpuCost, LatencySummary, Metric, StreamSummary};
pub use claim::{Evidence, Finding, Remedy, Severity};
pub use document::{Findings, RunSummary, SCHEMA};
pub use estimate::{Comparison, Difference, Estimate, Interval, NoiseFloor};
pub use ladder::{FactorEffect, Ladder, Rung};
