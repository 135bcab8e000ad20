//! Warnings about the validity of a measurement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes, Nanos};

use crate::time::UnixMillis;

/// A warning about the validity of a measurement, shown with its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ValidityWarning {
    /// A sending thread was busy nearly all the time, so the bottleneck may be the sender rather than the path.
    GeneratorLimited {
        end: String,
        /// CPU utilisation of the busiest thread, from 0 to 1.
        busy: f64,
    },
    /// A receiving thread was busy nearly all the time.
    ReceiverLimited {
        end: String,
        /// CPU utilisation of the busiest thread, from 0 to 1.
        busy: f64,
    },
    /// The hypervisor stole CPU time.
    Stolen {
        /// Fraction of the machine's time, from 0 to 1.
        share: f64,
    },
    /// Other processes or the hypervisor used the trial's CPUs.
    Disturbed {
        /// Fraction of the time of those CPUs, from 0 to 1.
        share: f64,
        /// The largest contributors, in descending order.
        processes: Vec<Disturber>,
    },
    /// A process of the trial did not run for some time, because it was stopped or starved of CPU time.
    Stalled { end: String, stalled: Nanos },
    /// At one or both ends, a connection was measured for much more or less time than requested.
    OtherDuration {
        requested: Nanos,
        /// The measured time with the largest difference.
        measured: Nanos,
    },
    /// Sent and received bytes differ, although the receiver read to the end of the stream.
    EndsDisagree {
        /// Payload accepted by the sender's socket.
        sent: Bytes,
        received: Bytes,
    },
    /// An end ran on an emulated machine. Counts are valid, but times and rates are not comparable with real hardware.
    Emulated,
    /// A sender did not reach its rate, or skipped part of its schedule after a stall, because the thread, CPU or path
    /// was too slow.
    RateNotReached {
        /// Requested rate per connection.
        requested: BitRate,
        /// Actual rate of the slowest sender.
        achieved: BitRate,
    },
    /// The generator of an open loop sent messages late, so latencies include its delay.
    LateGenerator {
        /// 99th percentile of the delay.
        lateness: Nanos,
        period: Nanos,
        /// 99th percentile of the time from the intended send time to the reply.
        tail: Nanos,
    },
    /// So many messages were lost that the percentiles of the other messages are not representative.
    Lossy { lost: u64, total: u64 },
    /// Messages arrived with sequence numbers that were never sent: the messages were modified in transit or sent by
    /// another host.
    Strays { strays: u64, total: u64 },
    /// The times and the rate are consistent only if the times are half round trips, as printed by sockperf.
    HalfRoundTrips,
    /// The measurement was interrupted and covers the time until then.
    Interrupted {
        /// Requested time. `None` for a fixed number of bytes.
        requested: Option<Nanos>,
        measured: Nanos,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturber {
    /// Name of the process. `None` for the hypervisor.
    pub process: Option<String>,
    /// Average number of CPUs used.
    pub cpus: f64,
}

impl Disturber {
    #[must_use]
    pub fn name(process: Option<&str>) -> String {
        process.map_or_else(|| "the hypervisor".to_owned(), |name| format!("`{name}`"))
    }

    /// Returns a text such as "`cc1` (0.85 CPUs) and `sshd` (0.02 CPUs)".
    #[must_use]
    pub fn all(by: &[Self]) -> String {
        let one = |one: &Self| format!("{} ({:.2} CPUs)", Self::name(one.process.as_deref()), one.cpus);
        match by {
            [] => "other processes".to_owned(),
            _ => by.iter().map(one).collect::<Vec<_>>().join(" and "),
        }
    }
}

/// An attempt at a trial that was discarded and repeated. Whether an attempt is discarded depends only on the cause,
/// never on the measured value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiscardedAttempt {
    pub started: UnixMillis,
    pub reason: ValidityWarning,
}
