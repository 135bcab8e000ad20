//! The server side of a stream.

use std::net::{TcpListener, UdpSocket};

use workload::{Direction, StreamSettings, Transport};

use super::{
    DatagramFormat, Finish, Flow, FlowSocket, SERVER, Start, check, connections, engine, share, udp,
};
use crate::{
    error::Result, gather, handshake::Purpose, observer::Observer, outcome::StreamOutcome, spec::ServerSpec,
    stop::Stop, workers::cpu_of,
};

#[derive(Debug)]
pub(crate) struct Server {
    spec: ServerSpec<StreamSettings>,
    listening: Listening,
    port: u16,
}

#[derive(Debug)]
enum Listening {
    Tcp(TcpListener),
    Udp(UdpSocket),
}

impl Server {
    pub(crate) fn open(spec: ServerSpec<StreamSettings>) -> Result<Self> {
        check(&spec.load)?;
        let settings = &spec.load.socket;
        let (listening, address) = match spec.load.transport {
            Transport::Tcp => {
                let listener = gather::listen(spec.bind, settings)?;
                let address = listener.local_addr();
                (Listening::Tcp(listener), address)
            }
            Transport::Udp => {
                let socket = udp::listen(spec.bind, settings)?;
                let address = socket.local_addr();
                (Listening::Udp(socket), address)
            }
        };
        Ok(Self { port: gather::port(address)?, spec, listening })
    }

    #[must_use]
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn run(self, stop: &Stop, observer: &dyn Observer) -> Result<StreamOutcome> {
        let places: Vec<_> = connections(&self.spec.load).collect();
        let sockets = self.gather(&places, stop)?;
        let Self { spec, listening, .. } = self;
        drop(listening);
        let flow = |(thread, ((direction, id), (socket, start))): (usize, (_, (FlowSocket, Start)))| Flow {
            id,
            direction,
            end: SERVER,
            name: Flow::name_of(direction, id, socket.peer()),
            socket,
            load: &spec.load,
            cpu: cpu_of(spec.cpus.as_deref(), thread),
            share: share(&spec.load, id),
            start,
            finish: Finish::HalfClose,
        };
        let flows = places.into_iter().zip(sockets).enumerate().map(flow).collect();
        engine::run(flows, stop, observer)
    }

    fn gather(&self, places: &[(Direction, u32)], stop: &Stop) -> Result<Vec<(FlowSocket, Start)>> {
        let Self { spec, listening, .. } = self;
        let transport = spec.load.transport;
        let expected: Vec<_> =
            places.iter().map(|&(direction, id)| (Purpose::of(direction, transport), id)).collect();
        let flow_of_datagrams =
            |(socket, opening)| (FlowSocket::Udp(socket, DatagramFormat::Counter64), Start::Opening(opening));
        Ok(match listening {
            Listening::Tcp(listener) => gather::gather(listener, spec.token, &expected, stop)?
                .into_values()
                .map(|socket| (FlowSocket::Tcp(socket), Start::Go))
                .collect(),
            Listening::Udp(socket) => udp::gather(socket, spec.token, &expected, &spec.load.socket, stop)?
                .into_values()
                .map(flow_of_datagrams)
                .collect(),
        })
    }
}
