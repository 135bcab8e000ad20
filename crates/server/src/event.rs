//! Events that the server reports while it runs.

use std::net::SocketAddr;

use traffic::{Error, FlowId, Outcome, RefusalCode, StreamOutcome};
use units::Nanos;
use workload::{Interval, StreamSettings, Transport};

use crate::{confinement::Confinement, ledger::Exhausted};

/// Called on several threads, but never on a measuring thread. Each call blocks its thread.
pub trait Watcher: Sync {
    fn event(&self, _event: Event<'_>) {}
}

impl Watcher for () {}

#[derive(Debug)]
pub enum Event<'a> {
    Listening {
        addresses: &'a [SocketAddr],
        /// Whether clients must authenticate. Only iperf3 clients can.
        proven: bool,
        confinement: Option<&'a Confinement>,
    },
    Waits {
        peer: SocketAddr,
        before: usize,
    },
    Begins {
        client: &'a Client,
    },
    Interval {
        client: &'a Client,
        flow: FlowId,
        interval: &'a Interval,
    },
    Ends {
        client: &'a Client,
        report: &'a Report,
    },
    Refused {
        peer: SocketAddr,
        reason: Refusal,
    },
    /// The number of refusals since the last event of this kind. Refusals in a burst are only counted.
    MoreRefused {
        count: u64,
    },
    Trouble {
        error: &'a Error,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Client {
    pub number: u64,
    pub peer: SocketAddr,
    pub local: SocketAddr,
    pub protocol: ServedProtocol,
    pub work: Work,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServedProtocol {
    Native,
    Iperf3,
    Sockperf,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    Stream(Box<StreamSettings>),
    PingPong(Transport),
    Connect,
}

#[derive(Debug, Default)]
pub struct Report {
    pub lasted: Nanos,
    pub here: Option<Outcome>,
    pub there: Option<StreamOutcome>,
    pub results: Option<codecs::iperf3::Results>,
    /// The output that iperf3's server would print with `--json`, for a completed test.
    pub output: Option<Box<codecs::iperf3::output::Output>>,
    pub messages: Option<codecs::sockperf::Counts>,
    pub failure: Option<Error>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("its address is not allowed")]
    Address,
    #[error("unknown protocol")]
    UnknownProtocol,
    #[error("it sent no request in time")]
    Slow,
    #[error("it disconnected before sending a request")]
    Left,
    #[error("dropped for newer connections before it sent a request")]
    ConnectionLimit,
    #[error("client limit reached")]
    Busy,
    #[error("client or connection limit of its address reached")]
    AddressLimit,
    #[error("its protocol has no authentication, which this server requires")]
    NoLogin,
    #[error("its token is in use by another client")]
    Token,
    #[error("unsupported parameters")]
    Parameters,
    #[error("its request exceeds a limit of this server")]
    Limit,
    #[error("authentication failed")]
    Unknown,
    #[error("rate limit for unverified addresses exceeded; excess messages are dropped")]
    Rate,
}

impl From<Exhausted> for Refusal {
    fn from(exhausted: Exhausted) -> Self {
        match exhausted {
            Exhausted::Address => Self::AddressLimit,
            Exhausted::Server => Self::Busy,
        }
    }
}

pub(crate) const fn refusal_code(limit: Exhausted) -> RefusalCode {
    match limit {
        Exhausted::Address => RefusalCode::AddressBusy,
        Exhausted::Server => RefusalCode::Busy,
    }
}
