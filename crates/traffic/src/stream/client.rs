//! The client side of a stream.

use workload::{StreamSettings, Transport};

use super::{
    CLIENT, DatagramFormat, Finish, Flow, FlowSocket, Start, check, connections, engine, share, udp,
};
use crate::{
    dial::Dial,
    error::Result,
    handshake::{Handshake, Purpose},
    observer::Observer,
    outcome::StreamOutcome,
    spec::ClientSpec,
    stop::Stop,
    workers::cpu_of,
};

pub(crate) fn run_client(
    spec: &ClientSpec<StreamSettings>,
    stop: &Stop,
    observer: &dyn Observer,
) -> Result<StreamOutcome> {
    check(&spec.load)?;
    let connect = |(thread, (direction, id)): (usize, (workload::Direction, u32))| {
        let purpose = Purpose::of(direction, spec.load.transport);
        let handshake = Handshake { token: spec.token, purpose, number: id };
        let settings = &spec.load.socket;
        let dial = Dial { bind: spec.bind, server: spec.server, settings, number: thread as u32 };
        let (socket, start) = match spec.load.transport {
            Transport::Tcp => (FlowSocket::Tcp(dial.connect(handshake, stop)?), Start::Go),
            Transport::Udp => {
                let (socket, opening) = udp::greet(&dial, handshake, stop)?;
                (FlowSocket::Udp(socket, DatagramFormat::Counter64), Start::Opening(opening))
            }
        };
        Ok(Flow {
            id,
            direction,
            end: CLIENT,
            name: Flow::name_of(direction, id, Some(spec.server)),
            socket,
            load: &spec.load,
            cpu: cpu_of(spec.cpus.as_deref(), thread),
            share: share(&spec.load, id),
            start,
            finish: Finish::HalfClose,
        })
    };
    let flows = connections(&spec.load).enumerate().map(connect).collect::<Result<Vec<_>>>()?;
    engine::run(flows, stop, observer)
}
