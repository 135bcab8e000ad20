//! `run`: the client's part of a trial.

use std::net::SocketAddrV4;

use protocol::{ClientOrder, EndReport, Reply};
use samples::LoadSettings;
use traffic::{ClientSpec, Stop, ping_pong, stream};
use units::Nanos;

use crate::{deadline::within, refusal::Refusal, replies::Replies, report, session::Session, watch::Watch};

/// Runs the client and reports.
pub(crate) fn run(session: Session<'_, '_>, deadline: Nanos, order: &ClientOrder) -> Result<Reply, Refusal> {
    let run = |stop: &Stop| within(deadline, stop, || measure(session.replies, order, stop));
    session.trials.as_client(order.token, run).map(Reply::Report)
}

fn measure(replies: &Replies, order: &ClientOrder, stop: &Stop) -> Result<EndReport, Refusal> {
    let watch = Watch::new(replies, order.token);
    match &order.load {
        LoadSettings::Stream(load) => {
            let outcome = stream::run_client(&spec(order, load), stop, &watch)?;
            Ok(report::of_stream(outcome, watch.machine()?))
        }
        LoadSettings::PingPong(load) => {
            let outcome = ping_pong::run_client(&spec(order, load), stop, &watch)?;
            Ok(report::of_ping_pong(outcome, watch.machine()?))
        }
    }
}

fn spec<L: Clone>(order: &ClientOrder, load: &L) -> ClientSpec<L> {
    ClientSpec {
        token: order.token.0,
        bind: order.bind,
        server: SocketAddrV4::new(order.server, order.port),
        load: load.clone(),
        cpus: order.cpus.clone(),
    }
}
