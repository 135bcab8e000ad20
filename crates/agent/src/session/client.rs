//! Handles `run`, which runs the client of a trial.

use std::net::SocketAddr;

use protocol::{ClientOrder, EndReport, Reply};
use traffic::{ClientSpec, Stop};
use units::Nanos;

use super::Session;
use crate::{deadline::within, refusal::Refusal, replies::Replies, report, watch::Watch};

pub(crate) fn run(session: Session<'_, '_>, deadline: Nanos, order: &ClientOrder) -> Result<Reply, Refusal> {
    let run = |stop: &Stop| within(deadline, stop, || measure(session.replies, order, stop));
    session.trials.as_client(order.token, run).map(Reply::Report)
}

fn measure(replies: &Replies, order: &ClientOrder, stop: &Stop) -> Result<EndReport, Refusal> {
    let watch = Watch::new(replies, order.token);
    let spec = ClientSpec {
        token: order.token.0,
        bind: order.bind,
        server: SocketAddr::from((order.server, order.port)),
        load: order.load.clone(),
        cpus: order.cpus.clone(),
    };
    let outcome = traffic::run_client(&spec, stop, &watch)?;
    report::end_report(outcome, watch)
}
