//! Determines which end and direction a stream's rate comes from, and whether the value ranges of tests agree.

use std::fmt;

use units::{BitRate, Nanos};
use workload::{Direction, EndSeries, Flow, Measurement, Quantity};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RateBasis {
    Received,
    Sent,
    /// The bytes received are known in only one of two directions.
    Half(Direction),
}

impl RateBasis {
    pub(crate) fn of(measurement: &Measurement) -> Option<Self> {
        let Measurement::Stream(stream) = measurement else { return None };
        let arrived = |flow: &&Flow| !flow.receiver.intervals.is_empty();
        let flows =
            |direction: Direction| stream.flows.iter().filter(move |flow| flow.direction == direction);
        let known = |direction: Direction| flows(direction).any(|flow| arrived(&flow));
        let (forward, reverse) = (known(Direction::Forward), known(Direction::Reverse));
        let both = flows(Direction::Forward).next().is_some() && flows(Direction::Reverse).next().is_some();
        Some(match (forward, reverse) {
            (false, false) if stream.flows.iter().any(|flow| !flow.sender.intervals.is_empty()) => Self::Sent,
            (true, false) if both => Self::Half(Direction::Forward),
            (false, true) if both => Self::Half(Direction::Reverse),
            _ => Self::Received,
        })
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Sent => "sent",
            Self::Half(Direction::Reverse) => "received, reverse alone",
            Self::Half(_) => "received, forward alone",
        }
    }

    pub(crate) const fn note(self) -> Option<&'static str> {
        match self {
            Self::Received => None,
            Self::Sent => {
                Some("received bytes are unknown, so the rate is the sender's; the receiver's log is missing")
            }
            Self::Half(Direction::Reverse) => Some(
                "bidirectional test: only the bytes received by the client are known; the server's log is missing",
            ),
            Self::Half(_) => Some(
                "bidirectional test: only the bytes received by the server are known; the client's log is missing",
            ),
        }
    }
}

/// Maximum relative difference between values without intervals.
const WITHOUT_INTERVALS: f64 = 0.1;
/// Tolerance for values rounded to three digits and for the varying start of a test.
const ROUNDED: f64 = 0.03;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Extent {
    value: f64,
    low: f64,
    high: f64,
    quantity: Quantity,
}

impl Extent {
    pub(crate) fn of(measurement: &Measurement) -> Option<Self> {
        let (value, spread, quantity) = match measurement {
            Measurement::Stream(data) => {
                let rate =
                    |end: fn(&Flow) -> &EndSeries| EndSeries::rate_together(data.flows.iter().map(end)).0;
                let (received, sent) = (rate(|flow| &flow.receiver), rate(|flow| &flow.sender));
                let ends = data.flows.iter().flat_map(|flow| [&flow.receiver, &flow.sender]);
                let spread = ends
                    .filter_map(spread)
                    .fold(None, |most: Option<f64>, it| Some(most.map_or(it, |most| most.max(it))));
                (if received > 0.0 { received } else { sent }, spread, Quantity::BitRate)
            }
            Measurement::PingPong(data) => {
                let at = |share| Some(data.round_trips.quantile(share)?.0 as f64);
                let (low, middle, high) = (at(0.1)?, at(0.5)?, at(0.9)?);
                let half = ((high - low) / 2.0 / middle).max(0.0);
                (middle, Some(half).filter(|half| half.is_finite()), Quantity::Time)
            }
            Measurement::Reported(data) => {
                let first = data.values.first()?;
                (first.value, None, first.quantity)
            }
            _ => return None,
        };
        let half = spread.unwrap_or(WITHOUT_INTERVALS / 2.0) + ROUNDED / 2.0;
        Some(Self { value, low: value * (1.0 - half), high: value * (1.0 + half), quantity })
    }

    pub(crate) fn agrees_with(self, other: Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Returns the intersection of both ranges. With their union, a slow drift over many tests would pass for
    /// agreement.
    pub(crate) fn with(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.min(other.high), ..self }
    }
}

fn spread(end: &EndSeries) -> Option<f64> {
    let rates: Vec<f64> = end.measured().map(|interval| interval.rate().0).collect();
    let count = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / count;
    let square: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    (rates.len() >= 3 && mean > 0.0).then(|| (square / (count - 1.0)).sqrt() / mean)
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.quantity {
            Quantity::BitRate => BitRate(self.value).fmt(f),
            Quantity::Time => Nanos(self.value.max(0.0) as u64).fmt(f),
            _ => f.write_str(&units::significant(self.value, 3)),
        }
    }
}

#[cfg(test)]
mod tests {
    use workload::{ReportedData, ReportedValue};

    use super::*;

    fn reported(value: f64) -> Extent {
        let value = ReportedValue { name: "rate".to_owned(), quantity: Quantity::BitRate, value };
        Extent::of(&Measurement::Reported(ReportedData { values: vec![value] })).expect("a value")
    }

    #[test]
    fn values_without_intervals_agree_within_a_tenth() {
        for (one, other, agree) in [(9.41e9, 9.39e9, true), (9.41e9, 8.6e9, true), (9.41e9, 8.2e9, false)] {
            assert_eq!(reported(one).agrees_with(reported(other)), agree, "{one} and {other}");
        }
        let both = reported(9.41e9).with(reported(8.6e9));
        assert!(both.agrees_with(reported(9e9)) && !both.agrees_with(reported(7.9e9)));
        assert_eq!(reported(9.41e9).to_string(), "9.41 Gbit/s");
    }
}
