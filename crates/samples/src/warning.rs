//! Reasons to distrust a number.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes, Nanos};

use crate::time::UnixMillis;

/// A reason to distrust a number; it travels with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ValidityWarning {
    /// A sending thread was busy nearly all the time: it, and not the path, may be the limit.
    GeneratorLimited {
        end: String,
        /// Its busiest thread's share of one CPU, 0 to 1.
        busy: f64,
    },
    /// A receiving thread was busy nearly all the time.
    ReceiverLimited {
        end: String,
        /// Its busiest thread's share of one CPU, 0 to 1.
        busy: f64,
    },
    /// The hypervisor took CPU time away.
    Stolen {
        /// Share of the machine's time, 0 to 1.
        share: f64,
    },
    /// Other processes, or the hypervisor, had so much of the CPUs that the trial could use.
    Disturbed {
        /// Share of those CPUs' time, 0 to 1.
        share: f64,
        /// The processes that had the most, largest first, with the CPUs that each kept busy; `None` is the hypervisor.
        by: Vec<Disturber>,
    },
    /// A process of the trial did not run for a while: it was stopped, or starved.
    Stalled {
        end: String,
        /// The longest time without a sign of it.
        stalled: Nanos,
    },
    /// The measured part was clearly shorter or longer than asked, at one end of one connection at least.
    OtherDuration {
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
    /// A machine at one end was emulated: what was counted holds, times and rates do not compare with hardware.
    Emulated,
    /// A sender did not keep the rate that it was given, or skipped a part of its schedule after a stall: its
    /// thread, its CPU or the path had no room for it.
    RateNotKept {
        /// What was asked of each connection.
        asked: BitRate,
        /// What the slowest sender's socket took.
        got: BitRate,
    },
    /// The generator of an open loop sent late, so that what it measured is its own lateness as well.
    LateGenerator {
        /// Lateness that 99 % of its messages did not exceed.
        lateness: Nanos,
        /// From one message to the next.
        period: Nanos,
        /// Time from the intended one to the return that 99 % did not exceed.
        tail: Nanos,
    },
    /// Of the messages so many did not come back that the percentiles of the others are not those of all.
    Lossy {
        /// How many were given up.
        lost: u64,
        /// Of how many that were sent.
        of: u64,
    },
    /// Messages came with numbers that were never sent: somebody alters them, or sends in the other end's name.
    Strays {
        /// How many.
        strays: u64,
        /// Of how many that came.
        of: u64,
    },
    /// Its times and its rate fit only if each message took twice that time: halves of round trips, as sockperf prints them.
    HalfRoundTrips,
    /// It was interrupted, and says what was measured till then.
    Interrupted {
        /// What was asked; `None` where bytes were.
        asked: Option<Nanos>,
        measured: Nanos,
    },
}

/// Who took CPU time from a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturber {
    /// The process; `None` where it is the hypervisor.
    pub process: Option<String>,
    /// CPUs that it kept busy.
    pub cpus: f64,
}

impl Disturber {
    /// A process as text names it; `None` is the hypervisor.
    #[must_use]
    pub fn name(process: Option<&str>) -> String {
        process.map_or_else(|| "the hypervisor".to_owned(), |name| format!("`{name}`"))
    }

    /// `cc1` (0.85 CPUs) and `sshd` (0.02 CPUs).
    #[must_use]
    pub fn all(by: &[Self]) -> String {
        let one = |one: &Self| format!("{} ({:.2} CPUs)", Self::name(one.process.as_deref()), one.cpus);
        match by {
            [] => "other processes".to_owned(),
            _ => by.iter().map(one).collect::<Vec<_>>().join(" and "),
        }
    }
}

/// A trial that was thrown away and made again, by its cause and never by its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiscardedAttempt {
    /// When it began.
    pub started: UnixMillis,
    /// Why it says nothing of its cell.
    pub because: ValidityWarning,
}
