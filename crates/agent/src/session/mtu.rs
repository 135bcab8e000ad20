//! Handles `probe-mtu`, `find-hole` and `send-packets`, which test what packet sizes a path can carry.

use std::net::SocketAddr;

use protocol::{MtuHole, MtuProbe, MtuResult, Reply};
use traffic::{Hole, MtuSpec, Passage, Stop, find_mtu_hole, probe_mtu, send_packets as send};
use units::Nanos;

use super::Session;
use crate::{deadline::within, refusal::Refusal};

pub(crate) fn probe(session: Session<'_, '_>, deadline: Nanos, order: &MtuProbe) -> Result<Reply, Refusal> {
    let Passage { carried, larger_refused } = as_client(session, deadline, order, probe_mtu)?;
    Ok(Reply::Mtu(MtuResult { carried, larger_refused }))
}

pub(crate) fn find_hole(
    session: Session<'_, '_>,
    deadline: Nanos,
    order: &MtuProbe,
) -> Result<Reply, Refusal> {
    let hole = as_client(session, deadline, order, find_mtu_hole)?;
    let lost = order.mtu;
    Ok(Reply::Hole(hole.map(|Hole { carried, is_known }| MtuHole { carried, lost, is_known })))
}

pub(crate) fn send_packets(
    session: Session<'_, '_>,
    deadline: Nanos,
    order: &MtuProbe,
    count: u32,
) -> Result<Reply, Refusal> {
    as_client(session, deadline, order, |spec, stop| send(spec, count, stop)).map(|()| Reply::Done)
}

fn as_client<T: Send>(
    session: Session<'_, '_>,
    deadline: Nanos,
    order: &MtuProbe,
    work: impl Fn(&MtuSpec, &Stop) -> Result<T, traffic::Error> + Send + Sync,
) -> Result<T, Refusal> {
    let MtuProbe { token, bind, server, port, mtu } = *order;
    let spec = MtuSpec { token: token.0, bind, server: SocketAddr::from((server, port)), mtu };
    let run = |stop: &Stop| within(deadline, stop, || Ok(work(&spec, stop)?));
    session.trials.as_client(token, run)
}
