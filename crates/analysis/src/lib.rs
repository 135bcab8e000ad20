//! Samples to cells, cost ladder, factor effects and findings.
//!
//! One stored run in, one document out: equal records give equal findings. Owns what is compared with what and
//! which claims follow; the formulas are `stats`'. Must not know files, clocks, how a run was made or is shown.

mod analyse;
mod baseline;
mod caveats;
mod cells;
mod compare;
mod connect;
mod cpu;
mod distribution;
mod doubts;
mod effects;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod golden;
mod hints;
mod humps;
mod ladder;
mod latency;
mod measured;
mod metric;
mod noise;
mod rules;
mod sending;
mod sockets;
mod solo;
mod steadiness;
mod stream;
mod words;

pub use analyse::analyse;
pub use solo::{Single, solo};
