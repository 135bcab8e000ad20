//! The metrics of results, with their names and formats.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes, Nanos, significant};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Payload received per second over all connections, in bits per second. Higher is better.
    Throughput,
    /// Median round trip, in nanoseconds, measured in an open loop from the intended send times. Lower is better.
    RoundTrip,
    /// Completed connections per second over all clients. Higher is better.
    ConnectionRate,
    /// Memory touched for the first time, in bytes per second over all threads. Higher is better.
    TouchRate,
    /// Memory reclaimed from a virtual machine or given back to it, in bytes per second. Higher is better.
    BalloonRate,
    /// A time reported by another tool, in nanoseconds, not necessarily a median round trip. Lower is better.
    Latency,
    /// Messages or transactions per second reported by another tool. Higher is better.
    MessageRate,
    /// A count reported by another tool. No direction is better.
    Count,
    /// Instructions executed by an emulated machine (kernel and programs) per 10^9 bytes of payload. Lower is better.
    InstructionsPerGigabyte,
    /// Instructions executed by an emulated machine per message and reply. Lower is better.
    InstructionsPerMessage,
}

impl Metric {
    #[must_use]
    pub const fn is_instructions(self) -> bool {
        matches!(self, Self::InstructionsPerGigabyte | Self::InstructionsPerMessage)
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::RoundTrip => "round trip",
            Self::ConnectionRate => "connection rate",
            Self::TouchRate => "touch rate",
            Self::BalloonRate => "balloon rate",
            Self::Latency => "latency",
            Self::MessageRate => "message rate",
            Self::Count => "count",
            Self::InstructionsPerGigabyte | Self::InstructionsPerMessage => "instructions",
        }
    }

    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Throughput => "Received",
            Self::RoundTrip => "Median round trip",
            Self::ConnectionRate => "Connections",
            Self::TouchRate => "Touched",
            Self::BalloonRate => "Moved",
            Self::Latency => "Reported latency",
            Self::MessageRate => "Messages",
            Self::Count => "Reported count",
            Self::InstructionsPerGigabyte => "Instructions per GB",
            Self::InstructionsPerMessage => "Instructions per message",
        }
    }

    /// The name and the better direction, e.g. `median round trip, less is better`.
    #[must_use]
    pub const fn measured_in(self) -> &'static str {
        match self {
            Self::Throughput => "throughput, more is better",
            Self::RoundTrip => "median round trip, less is better",
            Self::ConnectionRate => "connections per second, more is better",
            Self::TouchRate => "memory touched per second, more is better",
            Self::BalloonRate => "memory moved per second, more is better",
            Self::Latency => "reported latency, less is better",
            Self::MessageRate => "messages per second, more is better",
            Self::Count => "a reported count",
            Self::InstructionsPerGigabyte => "instructions per GB, less is better",
            Self::InstructionsPerMessage => "instructions per message, less is better",
        }
    }

    /// What a percentage refers to, e.g. `of the median round trip`.
    #[must_use]
    pub const fn share(self) -> &'static str {
        match self {
            Self::Throughput => "of the throughput",
            Self::RoundTrip | Self::Latency => "of the median round trip",
            Self::ConnectionRate | Self::TouchRate | Self::BalloonRate | Self::MessageRate | Self::Count => {
                "of the rate"
            }
            Self::InstructionsPerGigabyte | Self::InstructionsPerMessage => "of the instructions",
        }
    }

    /// Returns `None` if neither direction is better.
    #[must_use]
    pub const fn more_is_better(self) -> Option<bool> {
        match self {
            Self::Throughput
            | Self::ConnectionRate
            | Self::TouchRate
            | Self::BalloonRate
            | Self::MessageRate => Some(true),
            Self::RoundTrip
            | Self::Latency
            | Self::InstructionsPerGigabyte
            | Self::InstructionsPerMessage => Some(false),
            Self::Count => None,
        }
    }

    #[must_use]
    pub const fn quantity(self) -> Quantity {
        match self {
            Self::Throughput => Quantity::BitRate,
            Self::RoundTrip | Self::Latency => Quantity::Time,
            Self::ConnectionRate | Self::MessageRate => Quantity::PerSecond,
            Self::TouchRate | Self::BalloonRate => Quantity::ByteRate,
            Self::Count | Self::InstructionsPerGigabyte | Self::InstructionsPerMessage => Quantity::Count,
        }
    }

    /// Formats a value, e.g. `9.41 Gbit/s`, `49.3 µs` or `512 connections/s`.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        match self.quantity() {
            Quantity::BitRate => BitRate(value).to_string(),
            Quantity::ByteRate => format!("{}/s", Bytes(value.max(0.0).round() as u64)),
            Quantity::Time => Nanos(value.max(0.0).round() as u64).to_string(),
            Quantity::PerSecond => {
                let each = if self == Self::ConnectionRate { "connections" } else { "messages" };
                format!("{} {each}/s", significant(value, 3))
            }
            Quantity::Count if self == Self::InstructionsPerGigabyte => {
                format!("{} M instr/GB", significant(value / 1e6, 3))
            }
            Quantity::Count if self == Self::InstructionsPerMessage => {
                format!("{} k instr", significant(value / 1e3, 3))
            }
            Quantity::Share | Quantity::Count | Quantity::Size | Quantity::Plain => significant(value, 3),
        }
    }
}

/// The type of a reported number. It determines the unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Bits per second.
    BitRate,
    /// Bytes per second.
    ByteRate,
    /// A latency, in nanoseconds. A full round trip only if `name` says so.
    Time,
    /// Messages, transactions or connections per second.
    PerSecond,
    /// A fraction from 0 to 1, either of a machine's CPUs or as described by `name`.
    Share,
    /// A count, such as retransmits or system calls.
    Count,
    /// Bytes.
    Size,
    /// A number without a unit.
    Plain,
}
