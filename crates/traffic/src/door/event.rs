//! What a standing server tells while it runs. It does not know who listens.

use std::net::SocketAddr;

use units::Nanos;
use workload::{Interval, StreamSettings, Transport};

use crate::{
    error::Error,
    observer::FlowId,
    outcome::{Outcome, StreamOutcome},
};

/// Hears of a standing server, on several threads; never on one that measures. Nothing waits for it longer
/// than it takes.
pub trait Watcher: Sync {
    /// Something happened.
    fn event(&self, _event: Event<'_>) {}
}

/// Nobody listens.
impl Watcher for () {}

/// What happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// Clients may come.
    Listening {
        /// Where, ports filled in.
        addresses: &'a [SocketAddr],
        /// Whether clients have to prove who they are: then none but iperf3's are served.
        proven: bool,
    },
    /// A client that could be served has to wait for others.
    Waits {
        /// Who.
        peer: SocketAddr,
        /// How many wait before it.
        before: usize,
    },
    /// A client is being served.
    Begins {
        /// Who, and with what.
        client: &'a Client,
    },
    /// One connection of a client has ended an interval, seen from this end.
    Interval {
        /// Whose.
        client: &'a Client,
        /// Which connection.
        flow: FlowId,
        /// What passed.
        interval: &'a Interval,
    },
    /// A client is no longer served.
    Ends {
        /// Who.
        client: &'a Client,
        /// What came of it.
        report: &'a Report,
    },
    /// A peer was turned away.
    Refused {
        /// Who.
        peer: SocketAddr,
        /// Why.
        because: Refusal,
    },
    /// So many more were turned away since the last event of that kind: when strangers come in crowds, only
    /// some are named.
    MoreRefused {
        /// How many.
        count: u64,
    },
    /// The server could not do something, and goes on.
    Trouble {
        /// What.
        error: &'a Error,
    },
}

/// A client that is served.
#[derive(Debug, Clone, PartialEq)]
pub struct Client {
    /// Its number, from 1.
    pub number: u64,
    /// Where it comes from.
    pub peer: SocketAddr,
    /// Where it came to.
    pub local: SocketAddr,
    /// What it speaks.
    pub dialect: Dialect,
    /// What it asked for.
    pub work: Work,
}

/// What a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Our own.
    Native,
    /// iperf3's.
    Iperf3,
    /// sockperf's.
    Sockperf,
}

/// What a client asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// A stream.
    Stream(Box<StreamSettings>),
    /// Messages returned.
    PingPong(Transport),
    /// Requests answered, a connection each.
    Connect,
}

/// What came of a client.
#[derive(Debug)]
pub struct Report {
    /// How long it was served.
    pub lasted: Nanos,
    /// What this end recorded, as far as it came.
    pub here: Option<Outcome>,
    /// What the other end recorded, where that is a plumb and told it.
    pub there: Option<StreamOutcome>,
    /// What the other end told, of iperf3.
    pub results: Option<codecs::iperf3::Results>,
    /// What iperf3's server would have printed with `--json`, of a test that came to its end.
    pub output: Option<Box<codecs::iperf3::output::Output>>,
    /// What came and was answered, of sockperf.
    pub messages: Option<codecs::sockperf::Counts>,
    /// Why it did not end as it should have.
    pub failure: Option<Error>,
}

/// Why a peer was turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Its address.
    #[error("its address is in no allowed prefix")]
    Address,
    /// Its first bytes.
    #[error("its first bytes are of no dialect that is spoken here")]
    Stranger,
    /// Too slow.
    #[error("it did not say in time what it wants")]
    Slow,
    /// Gone.
    #[error("it left before it had said what it wants")]
    Left,
    /// Given up for a newer one.
    #[error("it had not yet said what it wants when too many others came")]
    Crowd,
    /// No place.
    #[error("as many clients as allowed are being served")]
    Busy,
    /// It speaks a dialect in which nobody can be asked who it is.
    #[error("its dialect cannot prove who it is, and this server serves nobody else")]
    Dialect,
    /// Somebody else's.
    #[error("another client has its token")]
    Token,
    /// Parameters that make no sense.
    #[error("its parameters cannot be served")]
    Parameters,
    /// More than is allowed.
    #[error("it asked for more than this server allows")]
    Limit,
    /// Not known.
    #[error("it did not prove who it is")]
    Unknown,
}
