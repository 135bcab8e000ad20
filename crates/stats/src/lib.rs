//! Estimators, intervals and noise floors on plain numbers.
//!
//! Owns no clock and no randomness, and must not know units, networks or storage.
//! Functions return `None` for input they cannot answer: empty, not finite, or out of the stated domain.

pub mod bimodal;
pub mod describe;
mod distribution;
pub mod interval;
pub mod levels;
pub mod noise;
pub mod ratio;
pub mod series;
pub mod verdict;

pub use bimodal::TwoLevels;
pub use interval::{Estimate, Interval};
pub use noise::NoiseFloor;
pub use verdict::Difference;
