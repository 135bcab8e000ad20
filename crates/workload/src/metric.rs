//! The one value by which a trial is judged, and what it is. Must not know other trials.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    kind::Measurement,
    reported::{Quantity, ReportedData},
    stream::EndSeries,
};

/// What a cell is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Payload received per second, all connections together, in bits per second. More is better.
    Throughput,
    /// Median round trip, in nanoseconds. Less is better.
    RoundTrip,
    /// Connections made, used and closed per second, all clients together. More is better.
    ConnectionRate,
    /// A time that another tool reported and that need not be a median round trip, in nanoseconds. Less is better.
    Latency,
    /// Messages or transactions per second that another tool reported. More is better.
    MessageRate,
    /// Something that another tool counted. Neither is better.
    Count,
}

impl Metric {
    /// Whether a higher value is better; `None` where neither is.
    #[must_use]
    pub const fn more_is_better(self) -> Option<bool> {
        match self {
            Self::Throughput | Self::ConnectionRate | Self::MessageRate => Some(true),
            Self::RoundTrip | Self::Latency => Some(false),
            Self::Count => None,
        }
    }
}

impl Measurement {
    /// What it is judged by.
    #[must_use]
    pub fn metric(&self) -> Metric {
        match self {
            Self::Stream(_) => Metric::Throughput,
            Self::PingPong(_) => Metric::RoundTrip,
            Self::Connect(_) => Metric::ConnectionRate,
            Self::Reported(data) => reported(data).map_or(Metric::Count, |(metric, _)| metric),
        }
    }

    /// Its value in the metric's unit; `None` when nothing was measured or something else was.
    #[must_use]
    pub fn value(&self, metric: Metric) -> Option<f64> {
        let value = match (self, metric) {
            (Self::Stream(data), Metric::Throughput) => {
                let receivers = || data.flows.iter().map(|flow| &flow.receiver);
                let senders = || data.flows.iter().map(|flow| &flow.sender);
                let lasted = |series: &EndSeries| series.elapsed().0 > 0;
                // A log without the receiver's word tells at least what was sent; its cell says so.
                if receivers().any(lasted) {
                    EndSeries::rate_together(receivers()).0
                } else {
                    senders().any(lasted).then(|| EndSeries::rate_together(senders()).0)?
                }
            }
            // Of an open loop since the intended times: from the time of sending a stall counts only once.
            (Self::PingPong(data), Metric::RoundTrip) => {
                let open = data.open_loop.as_ref().map(|open| &open.since_intended);
                open.unwrap_or(&data.round_trips).quantile(0.5)?.0 as f64
            }
            (Self::Connect(data), Metric::ConnectionRate) => data.rate()?,
            (Self::Reported(data), _) => reported(data).filter(|(own, _)| *own == metric)?.1,
            _ => return None,
        };
        value.is_finite().then_some(value)
    }
}

/// What a row of reported numbers is judged by: its first rate, else its first time, else its first number.
fn reported(data: &ReportedData) -> Option<(Metric, f64)> {
    let by = [
        (Quantity::BitRate, Metric::Throughput),
        (Quantity::Time, Metric::Latency),
        (Quantity::PerSecond, Metric::MessageRate),
        (Quantity::Count, Metric::Count),
        (Quantity::Plain, Metric::Count),
        (Quantity::Share, Metric::Count),
        (Quantity::Size, Metric::Count),
    ];
    by.into_iter().find_map(|(quantity, metric)| Some((metric, data.first(quantity)?.value)))
}
