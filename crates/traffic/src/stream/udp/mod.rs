//! Streams of numbered datagrams. The numbers show exactly which datagrams were lost.

mod dial;
mod format;
mod gather;
mod opening;
mod receive;
mod receive_method;
mod send;
mod sequence;

pub(super) use dial::greet;
pub use format::DatagramFormat;
pub(super) use gather::{gather, listen};
pub(crate) use opening::Opening;

use std::net::UdpSocket;

use samples::ThreadCpu;
use workload::EndSeries;

use super::flow::Flow;
use crate::{
    error::Result,
    socket::{TICK, limit_waits},
    workers::SharedState,
};

pub(super) const SMALLEST: u64 = DatagramFormat::Counter64.head() as u64;
/// The longest payload over IPv4 (RFC 768, RFC 791).
pub(super) const LARGEST: u64 = 65_507;

pub(super) fn run(
    flow: &Flow<'_>,
    socket: &UdpSocket,
    format: DatagramFormat,
    shared: &SharedState<'_>,
) -> Result<(EndSeries, ThreadCpu)> {
    limit_waits(socket, TICK)?;
    if flow.sends() {
        let sender = send::Sender::prepare(flow, socket, format)?;
        shared.wait_for_start()?;
        sender.run(shared)
    } else {
        let receiver = receive::Receiver::prepare(flow, socket, format);
        shared.wait_for_start()?;
        receiver.run(shared)
    }
}
