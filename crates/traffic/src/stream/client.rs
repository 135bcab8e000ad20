//! The end that connects.

use load::StreamLoad;

use super::{check, connections, flow};
use crate::{
    dial::Dial,
    ends::Outcome,
    error::Result,
    handshake::{Handshake, Purpose},
    observer::Observer,
    spec::ClientSpec,
    stop::Stop,
    stream::flow::Flow,
};

const END: &str = "client";

/// Makes every connection, flows once the server says so, and waits for the end of all.
///
/// # Errors
/// When the server cannot be reached, lacks the congestion control, or a connection fails or stalls.
pub(crate) fn run_client(
    spec: &ClientSpec<StreamLoad>,
    stop: &Stop,
    observer: &dyn Observer,
) -> Result<Outcome> {
    check(&spec.load)?;
    let congestion = spec.load.socket.congestion.as_deref();
    let dial = Dial { bind: spec.bind, server: spec.server, congestion };
    let connect = |place: (load::Direction, u32)| {
        let (direction, number) = place;
        let handshake = Handshake { token: spec.token, purpose: Purpose::of(direction), number };
        let socket = dial.connect(handshake, stop)?;
        Ok(Flow::new(place, END, socket, &spec.load, spec.cpus.as_deref()))
    };
    let flows = connections(&spec.load).map(connect).collect::<Result<Vec<_>>>()?;
    flow::run(flows, stop, observer)
}
