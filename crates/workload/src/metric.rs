//! The metrics of results, with their names and formats.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes, Nanos, significant};

/// The metric of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Payload received per second over all connections, in bits per second. Higher is better.
    Throughput,
    /// Median round trip, in nanoseconds; in an open loop, measured from the intended send times. Lower is better.
    RoundTrip,
    /// Completed connections per second over all clients. Higher is better.
    ConnectionRate,
    /// Bytes of memory touched for the first time per second, over all threads. Higher is better.
    TouchRate,
    /// Bytes of memory reclaimed from a virtual machine, or given back, per second. Higher is better.
    BalloonRate,
    /// A time reported by another tool, in nanoseconds, not necessarily a median round trip. Lower is better.
    Latency,
    /// Messages or transactions per second reported by another tool. Higher is better.
    MessageRate,
    /// A count reported by another tool. No direction is better.
    Count,
}

#[derive(Debug, Clone, Copy)]
struct Words {
    name: &'static str,
    title: &'static str,
    measured_in: &'static str,
    share: &'static str,
    each: &'static str,
    more_is_better: Option<bool>,
    quantity: Quantity,
}

impl Metric {
    const fn words(self) -> Words {
        match self {
            Self::Throughput => Words {
                name: "throughput",
                title: "Received",
                measured_in: "throughput, more is better",
                share: "of the throughput",
                each: "",
                more_is_better: Some(true),
                quantity: Quantity::BitRate,
            },
            Self::RoundTrip => Words {
                name: "round trip",
                title: "Median round trip",
                measured_in: "median round trip, less is better",
                share: "of the median round trip",
                each: "",
                more_is_better: Some(false),
                quantity: Quantity::Time,
            },
            Self::ConnectionRate => Words {
                name: "connection rate",
                title: "Connections",
                measured_in: "connections per second, more is better",
                share: "of the rate",
                each: "connections",
                more_is_better: Some(true),
                quantity: Quantity::PerSecond,
            },
            Self::TouchRate => Words {
                name: "touch rate",
                title: "Touched",
                measured_in: "memory touched per second, more is better",
                share: "of the rate",
                each: "",
                more_is_better: Some(true),
                quantity: Quantity::ByteRate,
            },
            Self::BalloonRate => Words {
                name: "balloon rate",
                title: "Moved",
                measured_in: "memory moved per second, more is better",
                share: "of the rate",
                each: "",
                more_is_better: Some(true),
                quantity: Quantity::ByteRate,
            },
            Self::Latency => Words {
                name: "latency",
                title: "Reported latency",
                measured_in: "reported latency, less is better",
                share: "of the median round trip",
                each: "",
                more_is_better: Some(false),
                quantity: Quantity::Time,
            },
            Self::MessageRate => Words {
                name: "message rate",
                title: "Messages",
                measured_in: "messages per second, more is better",
                share: "of the rate",
                each: "messages",
                more_is_better: Some(true),
                quantity: Quantity::PerSecond,
            },
            Self::Count => Words {
                name: "count",
                title: "Reported count",
                measured_in: "a reported count",
                share: "of the rate",
                each: "",
                more_is_better: None,
                quantity: Quantity::Count,
            },
        }
    }

    /// The noun in a sentence: `round trip`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.words().name
    }

    /// The table heading: `Median round trip`.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.words().title
    }

    /// The name with the better direction: `median round trip, less is better`.
    #[must_use]
    pub const fn measured_in(self) -> &'static str {
        self.words().measured_in
    }

    /// The reference of a share: `of the median round trip`.
    #[must_use]
    pub const fn share(self) -> &'static str {
        self.words().share
    }

    /// `None` if neither is.
    #[must_use]
    pub const fn more_is_better(self) -> Option<bool> {
        self.words().more_is_better
    }

    #[must_use]
    pub const fn quantity(self) -> Quantity {
        self.words().quantity
    }

    /// E.g. `9.41 Gbit/s`, `49.3 µs`, `512 connections/s`.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        match self.quantity() {
            Quantity::BitRate => BitRate(value).to_string(),
            Quantity::ByteRate => format!("{}/s", Bytes(value.max(0.0).round() as u64)),
            Quantity::Time => Nanos(value.max(0.0).round() as u64).to_string(),
            Quantity::PerSecond => format!("{} {}/s", significant(value, 3), self.words().each),
            Quantity::Share | Quantity::Count | Quantity::Size | Quantity::Plain => significant(value, 3),
        }
    }
}

/// The type of a reported number, which determines its unit.
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
    /// A fraction, 0 to 1: of a machine's CPUs, or as given by `name`.
    Share,
    /// A count: retransmits, system calls.
    Count,
    /// Bytes.
    Size,
    /// A number without a unit.
    Plain,
}
