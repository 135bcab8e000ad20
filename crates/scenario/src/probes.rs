//! The probes of a scenario.

use samples::ProbeKind;
use serde::{Deserialize, Serialize};

/// The default number of blocks with probed trials. Seven trials are enough for a confidence interval.
const USUAL_BLOCKS: u32 = 7;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probes {
    pub kinds: Vec<ProbeKind>,
    pub trials: Option<u32>,
}

impl Probes {
    #[must_use]
    pub fn blocks(&self, total: u32) -> u32 {
        self.trials.unwrap_or(USUAL_BLOCKS).min(total)
    }
}
