//! A run that tries the remedies of another one: which of its cells are whose.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run::RunId;

/// What a run tries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemedyTrials {
    /// The run whose remedies these are.
    pub of: RunId,
    /// Each that is tried.
    pub remedies: Vec<RemedyTrial>,
}

/// A remedy that is tried on a cell: with it and without it in the same blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemedyTrial {
    /// The finding whose remedy it is.
    pub finding: String,
    /// The cell of the other run.
    pub cell: String,
    /// The cell of this run that is like it.
    pub without: String,
    /// The cell of this run that has the remedy.
    pub with: String,
}
