//! Either end of any load: which kind it is is decided here and nowhere else.

use load::{Direction, Load};
use samples::{ConnectData, EndSeries, PingPongData, ThreadCpu};

use crate::{ClientSpec, Observer, Result, ServerSpec, Stop, connect, ping_pong, stream};

/// What one end recorded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Every connection of a stream, a ping-pong's background too, forward ones first.
    pub flows: Vec<FlowOutcome>,
    /// Of a ping-pong; the server's has its socket's facts only.
    pub ping_pong: Option<PingPongData>,
    /// Of connections; the server's is empty.
    pub connect: Option<ConnectData>,
    /// The CPU time of the traffic threads, warm-up included.
    pub threads: Vec<ThreadCpu>,
}

/// One end of one connection.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowOutcome {
    /// Its number among those of its direction.
    pub id: u32,
    /// Which way it flows: never `both`.
    pub direction: Direction,
    /// This end's record of it.
    pub series: EndSeries,
}

/// A server of one load, listening.
#[derive(Debug)]
pub struct Server(Kind);

#[derive(Debug)]
enum Kind {
    Stream(stream::Server),
    PingPong(ping_pong::Server),
    Connect(connect::Server),
}

impl Server {
    /// Listens on a port of the kernel's choice.
    ///
    /// # Errors
    /// When a setting makes no sense, the address is not this machine's, or the kernel lacks what was asked.
    pub fn open(spec: &ServerSpec<Load>) -> Result<Self> {
        Ok(Self(match &spec.load {
            Load::Stream(load) => Kind::Stream(stream::Server::open(spec.with(load.clone()))?),
            Load::PingPong(load) => Kind::PingPong(ping_pong::Server::open(spec.with(load.clone()))?),
            Load::Connect(load) => Kind::Connect(connect::Server::open(spec.with(load.clone()))?),
        }))
    }

    /// Where clients connect.
    #[must_use]
    pub const fn port(&self) -> u16 {
        match &self.0 {
            Kind::Stream(server) => server.port(),
            Kind::PingPong(server) => server.port(),
            Kind::Connect(server) => server.port(),
        }
    }

    /// Awaits the client, and runs to the end of the load.
    ///
    /// # Errors
    /// When the client does not come, connections fail, or neither move nor end.
    pub fn run(self, stop: &Stop, observer: &dyn Observer) -> Result<Outcome> {
        match self.0 {
            Kind::Stream(server) => server.run(stop, observer),
            Kind::PingPong(server) => server.run(stop, observer),
            Kind::Connect(server) => server.run(stop, observer),
        }
    }
}

/// Runs the client's end of a load.
///
/// # Errors
/// When a setting makes no sense, the server cannot be reached, or a connection fails or stalls.
pub fn run_client(spec: &ClientSpec<Load>, stop: &Stop, observer: &dyn Observer) -> Result<Outcome> {
    match &spec.load {
        Load::Stream(load) => stream::run_client(&spec.with(load.clone()), stop, observer),
        Load::PingPong(load) => ping_pong::run_client(&spec.with(load.clone()), stop, observer),
        Load::Connect(load) => connect::run_client(&spec.with(load.clone()), stop, observer),
    }
}
