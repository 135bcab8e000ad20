//! Warnings about the validity of a measurement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes, Nanos};

use crate::time::UnixMillis;

/// A warning about the validity of a measurement. Shown with the number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ValidityWarning {
    /// A sending thread was busy nearly all the time: it may be the limit instead of the path.
    GeneratorLimited {
        end: String,
        /// CPU utilisation of the busiest thread, 0 to 1.
        busy: f64,
    },
    /// A receiving thread was busy nearly all the time.
    ReceiverLimited {
        end: String,
        /// CPU utilisation of the busiest thread, 0 to 1.
        busy: f64,
    },
    /// The hypervisor stole CPU time.
    Stolen {
        /// Share of the machine's time, 0 to 1.
        share: f64,
    },
    /// Other processes, or the hypervisor, used CPUs of the trial.
    Disturbed {
        /// Share of the time of those CPUs, 0 to 1.
        share: f64,
        /// The largest contributors, in descending order.
        processes: Vec<Disturber>,
    },
    /// A process of the trial did not run for some time: it was stopped, or starved of CPU time.
    Stalled { end: String, stalled: Nanos },
    /// The measured time differs clearly from the requested one, at an end of at least one connection.
    OtherDuration {
        requested: Nanos,
        /// The measured time with the largest difference.
        measured: Nanos,
    },
    /// The ends report different amounts of data, although the receiver read to the end of the stream.
    EndsDisagree {
        /// Payload accepted by the sender's socket.
        sent: Bytes,
        received: Bytes,
    },
    /// An end ran on an emulated machine: counts are valid, but times and rates cannot be compared with hardware.
    Emulated,
    /// A sender did not reach its rate, or skipped part of its schedule after a stall: its thread, CPU or path was too
    /// slow.
    RateNotReached {
        /// Requested rate per connection.
        requested: BitRate,
        /// Actual rate of the slowest sender's socket.
        achieved: BitRate,
    },
    /// The generator of an open loop sent late, so that latencies include its delay.
    LateGenerator {
        /// 99th percentile of the delay.
        lateness: Nanos,
        period: Nanos,
        /// 99th percentile of the time from the intended send time to the reply.
        tail: Nanos,
    },
    /// So many messages were lost that the percentiles of the rest are not representative.
    Lossy { lost: u64, total: u64 },
    /// Received messages with numbers that were never sent: messages are modified in transit, or another host sends
    /// them.
    Strays { strays: u64, total: u64 },
    /// Times and rate are only consistent if the times are half round trips, as printed by sockperf.
    HalfRoundTrips,
    /// Interrupted; covers the time until then.
    Interrupted {
        /// Requested time; `None` for a fixed number of bytes.
        requested: Option<Nanos>,
        measured: Nanos,
    },
}

/// A process that used CPU time during a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturber {
    /// `None` for the hypervisor.
    pub process: Option<String>,
    /// Number of CPUs that it used on average.
    pub cpus: f64,
}

impl Disturber {
    /// Name for display; `None` is the hypervisor.
    #[must_use]
    pub fn name(process: Option<&str>) -> String {
        process.map_or_else(|| "the hypervisor".to_owned(), |name| format!("`{name}`"))
    }

    /// Text such as `cc1` (0.85 CPUs) and `sshd` (0.02 CPUs).
    #[must_use]
    pub fn all(by: &[Self]) -> String {
        let one = |one: &Self| format!("{} ({:.2} CPUs)", Self::name(one.process.as_deref()), one.cpus);
        match by {
            [] => "other processes".to_owned(),
            _ => by.iter().map(one).collect::<Vec<_>>().join(" and "),
        }
    }
}

/// A trial that was discarded and repeated, because of its cause, never because of its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiscardedAttempt {
    pub started: UnixMillis,
    pub reason: ValidityWarning,
}
