//! Runs either end of a workload of any kind.

mod first_touch;

use workload::WorkloadSettings;

use crate::{
    connect,
    error::{Error, Result},
    observer::Observer,
    outcome::Outcome,
    ping_pong,
    spec::{ClientSpec, ServerSpec},
    stop::Stop,
    stream,
};

#[derive(Debug)]
pub struct Server(Kind);

#[derive(Debug)]
enum Kind {
    Stream(stream::Server),
    PingPong(ping_pong::Server),
    Connect(connect::Server),
}

impl Server {
    pub fn open(spec: &ServerSpec<WorkloadSettings>) -> Result<Self> {
        Ok(Self(match &spec.load {
            WorkloadSettings::Stream(load) => Kind::Stream(stream::Server::open(spec.with(load.clone()))?),
            WorkloadSettings::PingPong(load) => {
                Kind::PingPong(ping_pong::Server::open(spec.with(load.clone()))?)
            }
            WorkloadSettings::Connect(load) => Kind::Connect(connect::Server::open(spec.with(load.clone()))?),
            WorkloadSettings::FirstTouch(_) | WorkloadSettings::Balloon(_) => {
                return Err(no_server(&spec.load));
            }
        }))
    }

    #[must_use]
    pub const fn port(&self) -> u16 {
        match &self.0 {
            Kind::Stream(server) => server.port(),
            Kind::PingPong(server) => server.port(),
            Kind::Connect(server) => server.port(),
        }
    }

    pub fn run(self, stop: &Stop, observer: &dyn Observer) -> Result<Outcome> {
        match self.0 {
            Kind::Stream(server) => server.run(stop, observer).map(Outcome::of_any_kind),
            Kind::PingPong(server) => server.run(stop, observer).map(Outcome::of_any_kind),
            Kind::Connect(server) => server.run(stop, observer).map(Outcome::of_any_kind),
        }
    }
}

fn no_server(load: &WorkloadSettings) -> Error {
    let value = load.kind().in_words().join(", ");
    Error::Setting { setting: "the workload of a server", value, allowed: "one with two ends" }
}

pub fn run_client(
    spec: &ClientSpec<WorkloadSettings>,
    stop: &Stop,
    observer: &dyn Observer,
) -> Result<Outcome> {
    match &spec.load {
        WorkloadSettings::Stream(load) => {
            stream::run_client(&spec.with(load.clone()), stop, observer).map(Outcome::of_any_kind)
        }
        WorkloadSettings::PingPong(load) => {
            ping_pong::run_client(&spec.with(load.clone()), stop, observer).map(Outcome::of_any_kind)
        }
        WorkloadSettings::Connect(load) => {
            connect::run_client(&spec.with(load.clone()), stop, observer).map(Outcome::of_any_kind)
        }
        WorkloadSettings::FirstTouch(load) => {
            first_touch::run(&spec.with(load.clone()), stop, observer).map(Outcome::of_any_kind)
        }
        WorkloadSettings::Balloon(_) => {
            let value = spec.load.kind().in_words().join(", ");
            Err(Error::Setting {
                setting: "the workload of a client",
                value,
                allowed: "one that runs inside its host",
            })
        }
    }
}
