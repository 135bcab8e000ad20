//! Samples to cells, cost ladder, factor effects and findings.
//!
//! One stored run in, one document out: equal records give equal findings. Owns what is compared with what and
//! which claims follow; the formulas are `stats`'. Must not know files, clocks, how a run was made or is shown.

mod alone;
mod analyse;
mod answer;
mod baseline;
mod caveats;
mod cells;
mod compare;
mod contrast;
mod counters;
mod cpu;
mod distribution;
mod doubts;
mod effects;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod golden;
mod guests;
mod hints;
mod humps;
mod kind;
mod ladder;
mod measured;
mod noise;
mod owners;
mod packets;
mod probed;
mod ranking;
mod rules;
mod sending;
mod series;
mod sockets;
mod solo;
mod steadiness;
mod syscalls;
mod trace;
mod tried;
mod twins;
mod words;

pub use analyse::analyse;
pub use contrast::{contrast, gate};
pub use hints::offloads_off;
pub use solo::{Single, solo};
pub use trace::{CallsBy, observed_since, trace, trace_contrast, vm};
pub use tried::tried;
