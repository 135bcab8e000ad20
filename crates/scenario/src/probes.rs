//! What a run watches its trials with, beside the traffic. Must not know how a probe looks, nor what it sees.

use samples::ProbeKind;
use serde::{Deserialize, Serialize};

/// Blocks with probed trials where nobody said how many: enough for an interval, and few beside the others.
const USUAL_BLOCKS: u32 = 7;

/// What a scenario is watched with; the default is nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probes {
    /// The probes, each once, in the order of [`ProbeKind::ALL`].
    pub kinds: Vec<ProbeKind>,
    /// How many blocks, from the first, hold each cell once more with the probes on; `None` where nobody said.
    pub trials: Option<u32>,
}

impl Probes {
    /// How many of so many blocks hold probed trials.
    #[must_use]
    pub fn blocks(&self, of: u32) -> u32 {
        self.trials.unwrap_or(USUAL_BLOCKS).min(of)
    }
}
