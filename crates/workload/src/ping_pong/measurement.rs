//! What a ping-pong recorded: whole round trips.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{
    histogram::LatencyHistogram,
    socket::SocketFacts,
    stream::{StreamData, StreamEnd},
};

/// The round trips of a ping-pong.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PingPongData {
    /// Every round trip after the warm-up, from when its message was sent.
    pub round_trips: LatencyHistogram,
    /// Of an open loop: what its schedule shows beside.
    pub open_loop: Option<OpenLoopData>,
    /// The same round trips in the order of time, the warm-up's included.
    pub intervals: Vec<PingPongInterval>,
    /// For how long they were made: from the first message after the warm-up to the last return. Messages that
    /// were given up count as under way until then, but not beyond the time that was asked.
    pub elapsed: Nanos,
    /// Messages that did not come back within a second, after which they are given up (UDP); `None` where nobody
    /// tells, as in the logs of some tools: then the intervals tell nothing of them either.
    pub lost: Option<u64>,
    /// What came and answers no message that was sent, the warm-up's included: its number never left this end, or it
    /// is no message of this exchange. No round trip; the message that it may belong to is lost. `None` where nobody
    /// counted them.
    pub strays: Option<u64>,
    /// Answers to messages that had been answered, or given up, before, the warm-up's included: no round trips
    /// either. `None` where nobody counted them.
    pub duplicates: Option<u64>,
    /// What the kernel gave the client's socket.
    pub client: SocketFacts,
    /// What it gave the server's.
    pub server: SocketFacts,
    /// The stream beside it, where there was one.
    pub under: Option<StreamData>,
}

/// What one end recorded of a ping-pong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PingPongEnd {
    pub messages: MessagesEnd,
    /// Of the stream beside them; without connections where there was none.
    pub beside: StreamEnd,
}

/// What one end recorded of the messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "one a trial and end: a box would save nothing that counts")]
pub enum MessagesEnd {
    /// The client: their round trips. What the server and the stream beside them tell is not in it.
    Client(PingPongData),
    /// The server, which measures none: what the kernel gave its socket.
    Server(SocketFacts),
}

impl PingPongEnd {
    /// Both ends' records together.
    ///
    /// # Errors
    /// When they are not of a client and a server, or of different connections beside the messages.
    pub fn together(self, server: Self) -> Result<PingPongData, String> {
        let under = (!self.beside.flows.is_empty())
            .then(|| StreamData::of_ends(&self.beside, &server.beside))
            .transpose()?;
        match (self.messages, server.messages) {
            (MessagesEnd::Client(data), MessagesEnd::Server(server)) => {
                Ok(PingPongData { server, under, ..data })
            }
            _ => Err("both ends report the same end of a ping-pong".to_owned()),
        }
    }

    /// What is known where the other end tells nothing.
    #[must_use]
    pub fn alone(self) -> PingPongData {
        match self.messages {
            MessagesEnd::Client(data) => data,
            MessagesEnd::Server(server) => PingPongData { server, ..PingPongData::default() },
        }
    }
}

/// What an open loop shows beyond its round trips: the same messages, from when they should have been sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenLoopData {
    /// From a message's intended time to its return: a stall of sender, path or peer is not hidden.
    pub since_intended: LatencyHistogram,
    /// From a message's intended time to the call that sent it: the generator's own lateness.
    pub lateness: LatencyHistogram,
}

/// The round trips that ended in one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PingPongInterval {
    /// From this time, since the first message.
    pub start: Nanos,
    /// To this time.
    pub end: Nanos,
    /// Whether it lies in the warm-up.
    pub warmup: bool,
    /// Of an open loop from the intended times, else from when each message was sent.
    #[serde(deserialize_with = "crate::histogram::read_packed")]
    pub round_trips: LatencyHistogram,
    /// Messages that were given up in it, a second after they were sent (UDP).
    pub lost: u64,
}
