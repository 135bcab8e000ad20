//! Which end's word a stream's rate is, and of which direction. Must not know how a log was read.

use workload::{Direction, Flow, Measurement};

/// What a test's rate is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RateBasis {
    /// What arrived, of every direction.
    Received,
    /// What was sent: nobody tells what arrived.
    Sent,
    /// What arrived of one of two directions.
    Half(Direction),
}

impl RateBasis {
    /// What is known of this; `None` where it is no stream.
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

    /// As a level of a factor.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Sent => "sent",
            Self::Half(Direction::Reverse) => "received, reverse alone",
            Self::Half(_) => "received, forward alone",
        }
    }

    /// What the reader must know of tests like this; `None` where all is as usual.
    pub(crate) const fn note(self) -> Option<&'static str> {
        match self {
            Self::Received => None,
            Self::Sent => {
                Some("nobody tells what arrived, so the rate is what was sent; the receiver's log is missing")
            }
            Self::Half(Direction::Reverse) => Some(
                "it went in both directions, and only what arrived at the client is known; the server's log is missing",
            ),
            Self::Half(_) => Some(
                "it went in both directions, and only what arrived at the server is known; the client's log is missing",
            ),
        }
    }
}
