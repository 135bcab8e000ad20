//! Reasons to distrust a number.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

/// A reason to distrust a number; it travels with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Doubt {
    /// A sending thread was busy nearly all the time: it, and not the path, may be the limit.
    GeneratorLimited {
        /// Which end.
        end: String,
        /// Its busiest thread's share of one CPU, 0 to 1.
        busy: f64,
    },
    /// A receiving thread was busy nearly all the time.
    ReceiverLimited {
        /// Which end.
        end: String,
        /// Its busiest thread's share of one CPU, 0 to 1.
        busy: f64,
    },
    /// The hypervisor took CPU time away.
    Stolen {
        /// Share of the machine's time, 0 to 1.
        share: f64,
    },
    /// Others on this machine used CPU time that the lab did not cause.
    BusyHost {
        /// Runnable tasks per CPU before the run, from the load average.
        load_per_cpu: f64,
    },
    /// The measured part was clearly shorter or longer than asked, at one end of one connection at least.
    OtherDuration {
        /// What was asked.
        asked: Nanos,
        /// What was measured where it differs most.
        measured: Nanos,
    },
    /// Both ends disagree on what was carried, although the receiver read to the end of the stream.
    EndsDisagree {
        /// Payload the sender's socket took.
        sent: Bytes,
        /// Payload the receiver got.
        received: Bytes,
    },
}
