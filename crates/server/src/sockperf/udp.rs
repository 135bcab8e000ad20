//! Serves a sockperf client over UDP, on a connected socket.

use std::{io, net::UdpSocket, sync::Arc};

use codecs::sockperf::{Counts, MAX_MESSAGE, Reply, answer_datagram};
use samples::ThreadRole;
use sys::clock::monotonic;
use traffic::{
    Error, Result, Stop,
    bounds::{Bounds, EndReason, Guard},
    socket::{TICK, is_dropped, is_wait, limit_waits, udp_facts},
    workers::CpuMeter,
};

use super::{SessionOutcome, SharedCounts};
use crate::ledger::Meter;

/// The size of the Ethernet, IPv4 and UDP headers in bytes, rounded up.
const HEADS: u64 = 64;

/// The number of tokens that a reply of `length` bytes to an unverified address costs.
pub(crate) const fn cost(length: usize) -> u64 {
    length as u64 + HEADS
}

/// Serves the connected peer until it is idle. Drops invalid datagrams, and replies that exceed `rate`. Also replies to
/// `first`, which another socket received. `others` counts the datagrams that other sockets have handled.
pub(crate) fn serve_udp(
    others: &SharedCounts,
    socket: &UdpSocket,
    (first, rate): (&[u8], &[Arc<Meter>]),
    bounds: Bounds,
    stop: &Stop,
) -> Result<SessionOutcome> {
    let name = socket.peer_addr().map_or_else(|_| "a client".into(), |peer| peer.to_string());
    let name = format!("the sockperf datagrams of {name}");
    socket.set_nonblocking(false).map_err(Error::socket("prepare", || name.clone()))?;
    limit_waits(socket, TICK)?;
    let spent = CpuMeter::from_now();
    let mut datagram = vec![0; MAX_MESSAGE + 1];
    let mut counts = Counts::default();
    let length = first.len().min(datagram.len());
    datagram[..length].copy_from_slice(&first[..length]);
    answer(socket, &mut datagram[..length], rate, &mut counts)
        .map_err(Error::socket("send on", || name.as_str()))?;
    let mut guard = Guard::new(bounds, stop, monotonic());
    let ended = loop {
        match socket.recv(&mut datagram) {
            Ok(length) => answer(socket, &mut datagram[..length], rate, &mut counts)
                .map_err(Error::socket("send on", || name.as_str()))?,
            Err(error) if is_wait(&error) => {}
            Err(error) if is_gone(&error) => break EndReason::Left,
            Err(error) => return Err(Error::socket("receive on", || name)(error)),
        }
        if let Some(ended) = guard.look(counts, monotonic())? {
            break ended;
        }
    };
    let thread = spent.until_now("server", ThreadRole::Pong);
    Ok(SessionOutcome::new(others.and(counts), ended, &guard, thread, udp_facts(socket, None)))
}

#[inline]
fn answer(
    socket: &UdpSocket,
    datagram: &mut [u8],
    rate: &[Arc<Meter>],
    counts: &mut Counts,
) -> io::Result<()> {
    let reply = answer_datagram(datagram);
    if reply != Reply::Answer {
        counts.note(reply, datagram.len());
        return Ok(());
    }
    let now = monotonic();
    if !rate.iter().all(|meter| meter.spend(cost(datagram.len()), now)) {
        return Ok(());
    }
    counts.note(reply, datagram.len());
    match socket.send(datagram) {
        // If the send buffer is full, the reply is dropped, and the client counts it as lost.
        Err(error) if is_wait(&error) || is_dropped(&error) || is_gone(&error) => Ok(()),
        other => other.map(drop),
    }
}

/// After the client has closed its socket, the next call returns this error.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionRefused
}
