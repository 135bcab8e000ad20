//! TCP streams: transferring data to and from the kernel, and reading TCP_INFO.

mod receive;
mod sample;
mod send;

use std::{net::TcpStream, time::Duration};

use samples::ThreadCpu;
use workload::EndSeries;

use super::flow::{Flow, Start};
use crate::{
    dial,
    error::Result,
    socket::{TICK, limit_waits},
    workers::SharedState,
};

/// The kernel's timers have a granularity of a few milliseconds.
const SHORTEST: Duration = Duration::from_millis(5);

pub(super) fn run(
    flow: &Flow<'_>,
    socket: &TcpStream,
    shared: &SharedState<'_>,
) -> Result<(EndSeries, ThreadCpu)> {
    limit_waits(socket, TICK.min(flow.load.interval.into()).max(SHORTEST))?;
    let flowed = if flow.sends() {
        send::Sender::prepare(flow, socket).and_then(|sender| {
            start(flow, socket, shared)?;
            sender.run(shared)
        })
    } else {
        let receiver = receive::Receiver::prepare(flow, socket);
        start(flow, socket, shared).and_then(|()| receiver.run(shared))
    };
    if flowed.is_err() {
        // Sends a reset, because the peer would mistake a normal close for the regular end of the stream.
        sys::socket::set_linger_zero(socket)?;
    }
    flowed
}

fn start(flow: &Flow<'_>, socket: &TcpStream, shared: &SharedState<'_>) -> Result<()> {
    shared.wait_for_start()?;
    match flow.start {
        Start::Go if flow.is_server() => dial::give_go(socket, &flow.name),
        Start::Go => dial::await_go(socket, &flow.name, || shared.check()),
        Start::Now | Start::Opening(_) => Ok(()),
    }
}
