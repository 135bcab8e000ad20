//! Which end and direction a stream's rate comes from.

use workload::{Direction, Flow, Measurement};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RateBasis {
    /// Received bytes of every direction.
    Received,
    /// Sent bytes; received bytes are unknown.
    Sent,
    /// Received bytes of one of two directions.
    Half(Direction),
}

impl RateBasis {
    /// `None` unless this is a stream.
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

    /// Name as a factor level.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Sent => "sent",
            Self::Half(Direction::Reverse) => "received, reverse alone",
            Self::Half(_) => "received, forward alone",
        }
    }

    /// Note on the missing data, if any.
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
