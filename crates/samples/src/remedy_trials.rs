//! A run that tests remedies suggested by another run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run::RunId;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemedyTrials {
    /// The run that suggested the remedies.
    pub run: RunId,
    pub remedies: Vec<RemedyTrial>,
}

/// A remedy tested on a result, with and without it in the same blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemedyTrial {
    /// The finding that suggested it.
    pub finding: String,
    /// The result of the other run.
    pub result: String,
    /// The corresponding result of this run.
    pub without: String,
    /// The result of this run with the remedy.
    pub with: String,
}
