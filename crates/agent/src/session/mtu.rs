//! `probe-mtu`: tests which packet size a path can carry.

use std::net::SocketAddr;

use protocol::{MtuProbe, MtuResult, Reply};
use traffic::{MtuSpec, Passage, Stop, probe_mtu};
use units::Nanos;

use super::Session;
use crate::{deadline::within, refusal::Refusal};

pub(crate) fn probe(session: Session<'_, '_>, deadline: Nanos, order: &MtuProbe) -> Result<Reply, Refusal> {
    let MtuProbe { token, bind, server, port, mtu } = *order;
    let spec = MtuSpec { token: token.0, bind, server: SocketAddr::from((server, port)), mtu };
    let run = |stop: &Stop| within(deadline, stop, || Ok(probe_mtu(&spec, stop)?));
    let Passage { carried, larger_refused } = session.trials.as_client(token, run)?;
    Ok(Reply::Mtu(MtuResult { carried, larger_refused }))
}
