//! What the kernel says beside a trial: CPU time, and the machine it ran on.
//!
//! Reads /proc and /sys, never on the path of a message. Knows nothing of the load, of thresholds or of
//! averages.
#![expect(clippy::disallowed_methods, reason = "probe owns reading /proc and /sys, and when it was read")]

mod cpu;
mod environment;
mod error;

pub use cpu::CpuReading;
pub use environment::environment;
pub use error::Error;
