//! Estimators, intervals and noise floors on plain numbers.
//!
//! Uses no clock, and only fixed seeds for random numbers. Functions return `None` for input outside their domain:
//! empty, not finite, or as documented.

pub mod ab;
pub mod bimodal;
pub mod cluster;
pub mod contest;
pub mod curve;
pub mod describe;
mod distribution;
pub mod fit;
pub mod history;
pub mod interval;
pub mod levels;
pub mod location;
pub mod mixture;
pub mod multiple;
pub mod noise;
pub mod permutation;
pub mod ratio;
pub mod series;
pub mod stationarity;
pub mod sweep;
pub mod verdict;
pub mod warmup;

pub use ab::AbResult;
pub use bimodal::TwoLevels;
pub use cluster::Bounds;
pub use contest::Contest;
pub use curve::Plateau;
pub use fit::Fit;
pub use history::Course;
pub use interval::{Estimate, Interval};
pub use location::{Blocks, Level};
pub use multiple::Family;
pub use noise::{BetweenRuns, NoiseFloor};
pub use verdict::Difference;
