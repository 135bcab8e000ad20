//! Handles `serve` and `collect`, which run the server of a trial and return its report.

use std::{
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
};

use protocol::{EndReport, Reply, ServerOrder, Token};
use traffic::{Server, ServerSpec, Stop};
use units::Nanos;

use super::Session;
use crate::{
    deadline::{panicked, passed},
    refusal::Refusal,
    replies::Replies,
    report,
    watch::Watch,
};

pub(crate) fn open(session: Session<'_, '_>, order: ServerOrder) -> Result<Reply, Refusal> {
    let token = order.token;
    let server = listen(session, order)?;
    let port = server.port();
    let stop = Stop::new();
    let (outcome, later) = channel();
    session.trials.serve(token, &stop, later)?;
    let replies = session.replies;
    let body = move || {
        let _ = outcome.send(run(server, replies, token, &stop));
    };
    thread::Builder::new().name("server".into()).spawn_scoped(session.scope, body).map_err(|error| {
        session.trials.forget_server(token);
        Refusal::new(format!("cannot start a thread for the server: {error}"))
    })?;
    Ok(Reply::Listening { port })
}

fn listen(session: Session<'_, '_>, order: ServerOrder) -> Result<Server, Refusal> {
    let ServerOrder { token, bind, mut load, cpus } = order;
    let asked = load.kind_mut().socket_mut().and_then(|socket| socket.server_port);
    let ports = session.policy.listens_on(asked).map_err(Refusal::new)?;
    let last = *ports.end();
    for port in ports {
        if let Some(socket) = load.kind_mut().socket_mut() {
            socket.server_port = (port != 0).then_some(port);
        }
        let spec = ServerSpec { token: token.0, bind, load: load.clone(), cpus: cpus.clone() };
        match Server::open(&spec) {
            Err(error) if error.is_taken() && port != last => {}
            opened => return Ok(opened?),
        }
    }
    Err(Refusal::new("its policy allows no port to listen on"))
}

pub(crate) fn collect(session: Session<'_, '_>, deadline: Nanos, token: Token) -> Result<Reply, Refusal> {
    let (stop, outcome) = session.trials.collect(token)?;
    let result = match outcome.recv_timeout(deadline.into()) {
        Ok(result) => result.map(Reply::Report),
        Err(RecvTimeoutError::Timeout) => Err(passed(deadline)),
        Err(RecvTimeoutError::Disconnected) => Err(panicked()),
    };
    stop.ask();
    session.trials.forget_server(token);
    result
}

fn run(server: Server, replies: &Replies, token: Token, stop: &Stop) -> Result<EndReport, Refusal> {
    let watch = Watch::new(replies, token);
    let outcome = server.run(stop, &watch)?;
    report::end_report(outcome, watch)
}
