//! A measurement that a watch repeats.

use units::Share;

use crate::schedule::Timing;

/// Maximum number of passed runs to go back for a comparison.
pub const FARTHEST: usize = 10;

#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    pub scenario: String,
    pub timing: Timing,
    pub against: Against,
    pub max_loss: Share,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Against {
    Previous(usize),
    Baseline(String),
}

impl Default for Against {
    fn default() -> Self {
        Self::Previous(1)
    }
}

#[derive(Debug)]
pub struct Watched {
    pub measure: Measure,
    pub name: String,
    pub digest: String,
}
