//! What the kernel says beside a trial: CPU time, the machine it ran on, and what that machine can do.
//!
//! Reads /proc and /sys, never on the path of a message. Knows nothing of the load, of a result's thresholds
//! or of averages.
#![expect(clippy::disallowed_methods, reason = "probe owns reading /proc and /sys, and when it was read")]

mod capability;
mod cpu;
mod environment;
mod error;
mod file;
mod observe;

pub use capability::{Area, Capability, State, capabilities};
pub use cpu::CpuReading;
pub use environment::environment;
pub use error::Error;
pub use observe::{Probe, ProbeError, Subject, WatchedDevice, Watch, WayWatch};
