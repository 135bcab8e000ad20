//! What a standing server tells while it runs. It does not know who listens.

use std::net::SocketAddr;

use traffic::{Error, FlowId, Outcome, RefusalCode, StreamOutcome};
use units::Nanos;
use workload::{Interval, StreamSettings, Transport};

use crate::{confinement::Confinement, ledger::Exhausted};

/// Is told of a standing server, on several threads; never on one that measures. Nothing waits for it longer than it
/// takes.
pub trait Watcher: Sync {
    fn event(&self, _event: Event<'_>) {}
}

impl Watcher for () {}

#[derive(Debug)]
pub enum Event<'a> {
    /// Clients may come.
    Listening {
        /// Ports filled in.
        addresses: &'a [SocketAddr],
        /// Whether clients have to prove who they are: then none but iperf3's are served.
        proven: bool,
        /// What the server can do no more, if it has given anything up.
        confinement: Option<&'a Confinement>,
    },
    /// A client that could be served has to wait for others.
    Waits {
        peer: SocketAddr,
        /// How many wait before it.
        before: usize,
    },
    /// A client is being served.
    Begins { client: &'a Client },
    /// One connection of a client has ended an interval, seen from this end.
    Interval { client: &'a Client, flow: FlowId, interval: &'a Interval },
    /// A client is no longer served.
    Ends { client: &'a Client, report: &'a Report },
    /// A peer was turned away.
    Refused { peer: SocketAddr, because: Refusal },
    /// So many more were turned away since the last event of that kind: of many at once only some are named.
    MoreRefused { count: u64 },
    /// The server could not do something, and goes on.
    Trouble { error: &'a Error },
}

/// A client that is served.
#[derive(Debug, Clone, PartialEq)]
pub struct Client {
    /// From 1.
    pub number: u64,
    pub peer: SocketAddr,
    pub local: SocketAddr,
    pub protocol: ServedProtocol,
    pub work: Work,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServedProtocol {
    /// Our own.
    Native,
    Iperf3,
    Sockperf,
}

/// What a client asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    Stream(Box<StreamSettings>),
    /// Messages returned.
    PingPong(Transport),
    /// Requests answered, a connection each.
    Connect,
}

/// What came of a client.
#[derive(Debug, Default)]
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
    #[error("its address is in no allowed prefix")]
    Address,
    #[error("its first bytes are of no dialect that is spoken here")]
    UnknownProtocol,
    #[error("it did not say in time what it wants")]
    Slow,
    #[error("it left before it had said what it wants")]
    Left,
    /// Given up for a newer connection.
    #[error("it had not yet said what it wants when too many others came")]
    ConnectionLimit,
    #[error("as many clients as allowed are being served")]
    Busy,
    #[error("its address has as many clients or connections as one address may have")]
    AddressLimit,
    /// In its protocol nobody can be asked who it is.
    #[error("its dialect cannot prove who it is, and this server serves nobody else")]
    NoLogin,
    #[error("another client has its token")]
    Token,
    #[error("its parameters cannot be served")]
    Parameters,
    #[error("it asked for more than this server allows")]
    Limit,
    #[error("it did not prove who it is")]
    Unknown,
    /// Some of its messages are not answered.
    #[error(
        "it asks faster than an address is answered that has proved nothing; its other messages are answered"
    )]
    Rate,
}

impl From<Exhausted> for Refusal {
    fn from(whose: Exhausted) -> Self {
        match whose {
            Exhausted::Address => Self::AddressLimit,
            Exhausted::Server => Self::Busy,
        }
    }
}

/// The code that a plumb client receives.
pub(crate) const fn refusal_code(limit: Exhausted) -> RefusalCode {
    match limit {
        Exhausted::Address => RefusalCode::AddressBusy,
        Exhausted::Server => RefusalCode::Busy,
    }
}
