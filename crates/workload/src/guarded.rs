//! Metrics that a comparison checks for regressions, in addition to the workload's main metric.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Nanos, Share};

use crate::histogram::LatencyHistogram;

/// A guarded metric. Lower is always better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GuardedMetric {
    /// The 99th percentile of the times, in nanoseconds.
    P99,
    /// Fraction of the datagrams or messages that were lost.
    PacketLoss,
    /// Fraction of the TCP segments that were retransmissions.
    RetransmitRate,
    /// Fraction of the connection attempts that failed.
    ConnectionFailures,
    /// Fraction of the measured intervals in which no data arrived.
    Outage,
}

impl GuardedMetric {
    pub const ALL: [Self; 5] =
        [Self::P99, Self::PacketLoss, Self::RetransmitRate, Self::ConnectionFailures, Self::Outage];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::P99 => "99th percentile",
            Self::PacketLoss => "packet loss",
            Self::RetransmitRate => "retransmit rate",
            Self::ConnectionFailures => "failed connections",
            Self::Outage => "time without traffic",
        }
    }

    /// Whether the values are fractions. Fractions are compared by difference, and times by ratio.
    #[must_use]
    pub const fn is_fraction(self) -> bool {
        !matches!(self, Self::P99)
    }

    /// Formats a value, e.g. `27.1 µs` or `1.5 %`.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        if self.is_fraction() {
            Share(value).to_string()
        } else {
            Nanos(value.max(0.0).round() as u64).to_string()
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub enum GuardedSample<'a> {
    Times(&'a LatencyHistogram),
    /// A percentile reported by another tool, in nanoseconds.
    Time(f64),
    /// Affected items and total items.
    Fraction(f64, f64),
}

impl GuardedSample<'_> {
    /// Returns `None` if there are no items.
    pub(crate) fn fraction(part: u64, whole: u64) -> Option<Self> {
        (whole > 0).then_some(Self::Fraction(part as f64, whole as f64))
    }
}
