//! The open clients and servers, by trial token.

use std::{collections::HashMap, sync::mpsc::Receiver, time::Duration};

use parking_lot::Mutex;
use protocol::{EndReport, Token};
use traffic::Stop;

use crate::refusal::Refusal;

const CLOSING: Duration = Duration::from_secs(2);

pub(crate) type Outcome = Receiver<Result<EndReport, Refusal>>;

#[derive(Default)]
pub(crate) struct Trials {
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    servers: HashMap<Token, Server>,
    clients: HashMap<Token, Stop>,
    closed: bool,
}

struct Server {
    stop: Stop,
    outcome: Option<Outcome>,
}

impl Trials {
    pub(crate) fn serve(&self, token: Token, stop: &Stop, outcome: Outcome) -> Result<(), Refusal> {
        let mut open = self.open.lock();
        open.check()?;
        if open.servers.contains_key(&token) {
            return Err(already("server", token));
        }
        open.servers.insert(token, Server { stop: stop.clone(), outcome: Some(outcome) });
        Ok(())
    }

    pub(crate) fn collect(&self, token: Token) -> Result<(Stop, Outcome), Refusal> {
        let mut open = self.open.lock();
        let server = open.servers.get_mut(&token).ok_or_else(|| Refusal::unknown(token))?;
        let outcome = server.outcome.take();
        let outcome = outcome.ok_or_else(|| Refusal::new("this trial is already being collected"))?;
        Ok((server.stop.clone(), outcome))
    }

    pub(crate) fn forget_server(&self, token: Token) {
        self.open.lock().servers.remove(&token);
    }

    pub(crate) fn as_client<T>(
        &self,
        token: Token,
        work: impl FnOnce(&Stop) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let stop = Stop::new();
        let mut open = self.open.lock();
        open.check()?;
        if open.clients.contains_key(&token) {
            return Err(already("client", token));
        }
        open.clients.insert(token, stop.clone());
        drop(open);
        let result = work(&stop);
        self.open.lock().clients.remove(&token);
        result
    }

    pub(crate) fn abandon(&self, token: Token) {
        let mut open = self.open.lock();
        let server = open.servers.remove(&token);
        server.iter().for_each(|server| server.stop.ask());
        open.clients.get(&token).iter().for_each(|stop| stop.ask());
        drop(open);
        if let Some(outcome) = server.and_then(|server| server.outcome) {
            let _ = outcome.recv_timeout(CLOSING);
        }
    }

    pub(crate) fn stop_all(&self) {
        let mut open = self.open.lock();
        open.closed = true;
        open.servers.values().for_each(|server| server.stop.ask());
        open.clients.values().for_each(Stop::ask);
    }
}

impl Open {
    fn check(&self) -> Result<(), Refusal> {
        if self.closed { Err(Refusal::over()) } else { Ok(()) }
    }
}

fn already(end: &str, token: Token) -> Refusal {
    Refusal::new(format!("trial {token} already has a {end}; abandon it first"))
}
