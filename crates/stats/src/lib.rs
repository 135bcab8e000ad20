//! Estimators, intervals and noise floors on plain numbers.
//!
//! Owns no clock, and no randomness but what begins at a fixed seed. Functions return `None` for input they cannot answer:
//! empty, not finite, or out of the stated domain.

pub mod ab;
pub mod bimodal;
pub mod contest;
pub mod curve;
pub mod describe;
mod distribution;
pub mod interval;
pub mod levels;
pub mod multiple;
pub mod noise;
pub mod paired;
pub mod permutation;
pub mod ratio;
pub mod series;
pub mod stationarity;
pub mod sweep;
pub mod verdict;
pub mod warmup;

pub use ab::AbResult;
pub use bimodal::TwoLevels;
pub use contest::Contest;
pub use curve::Plateau;
pub use interval::{Estimate, Interval};
pub use noise::{BetweenRuns, NoiseFloor};
pub use verdict::Difference;
