//! The results of a ping-pong test. All times are full round trips.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{
    histogram::LatencyHistogram,
    kind::stream::{StreamData, StreamEnd},
    socket::SocketFacts,
};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PingPongData {
    /// Round trips after the warm-up, measured from the actual send time.
    pub round_trips: LatencyHistogram,
    pub open_loop: Option<OpenLoopData>,
    /// The same round trips in order, including the warm-up.
    pub intervals: Vec<PingPongInterval>,
    /// Time from the first message after the warm-up to the last reply. A message without a reply extends this time
    /// until the message is given up, but not beyond the requested time.
    pub elapsed: Nanos,
    /// Messages without a reply after one second (UDP). `None` if unknown, as in the logs of some tools. The intervals
    /// then contain no losses either.
    pub lost: Option<u64>,
    /// Received messages that match no sent message, including the warm-up. The original message, if any, counts as
    /// lost. `None` if not counted.
    pub strays: Option<u64>,
    /// Replies to messages already answered or given up, including the warm-up. `None` if not counted.
    pub duplicates: Option<u64>,
    /// The client's socket, as set by the kernel.
    pub client: SocketFacts,
    pub server: SocketFacts,
    pub under: Option<StreamData>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PingPongEnd {
    pub messages: MessagesEnd,
    pub background: StreamEnd,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "one per trial and end: boxing would save nothing")]
pub enum MessagesEnd {
    /// The round trips, without data from the server and the background stream.
    Client(PingPongData),
    /// The server does not measure any times.
    Server(SocketFacts),
}

impl PingPongEnd {
    /// Fails unless one record comes from a client and one from a server, with the same background connections.
    pub fn together(self, server: Self) -> Result<PingPongData, String> {
        let under = (!self.background.flows.is_empty())
            .then(|| StreamData::of_ends(&self.background, &server.background))
            .transpose()?;
        match (self.messages, server.messages) {
            (MessagesEnd::Client(data), MessagesEnd::Server(server)) => {
                Ok(PingPongData { server, under, ..data })
            }
            _ => Err("both reports come from the same end of a ping-pong".to_owned()),
        }
    }

    #[must_use]
    pub fn alone(self) -> PingPongData {
        match self.messages {
            MessagesEnd::Client(data) => data,
            MessagesEnd::Server(server) => PingPongData { server, ..PingPongData::default() },
        }
    }
}

/// Times relative to the intended send times of an open loop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenLoopData {
    /// Time from the intended send time to the reply. Includes stalls of the sender, path and peer.
    pub since_intended: LatencyHistogram,
    /// Time from the intended to the actual send time, i.e. the delay in the generator.
    pub lateness: LatencyHistogram,
}

/// Round trips that ended in an interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PingPongInterval {
    pub start: Nanos,
    pub end: Nanos,
    pub warmup: bool,
    /// Round trips, measured from the intended send times (open loop) or the actual ones (closed loop).
    #[serde(deserialize_with = "crate::histogram::read_packed")]
    pub round_trips: LatencyHistogram,
    /// Messages given up in the interval, one second after they were sent (UDP).
    pub lost: u64,
}
