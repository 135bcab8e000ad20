//! What is open here, by the trial's token: how to stop it, and where a server's record will come from.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError, mpsc::Receiver},
    time::Duration,
};

use protocol::{EndReport, Token};
use traffic::Stop;

use crate::refusal::Refusal;

/// How long a server that was stopped may take to close what it has open.
const CLOSING: Duration = Duration::from_secs(2);

/// What a server will have recorded.
pub(crate) type Outcome = Receiver<Result<EndReport, Refusal>>;

/// Everything that is open.
#[derive(Default)]
pub(crate) struct Trials {
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    servers: HashMap<Token, Server>,
    clients: HashMap<Token, Stop>,
    /// The session is over: nothing may begin.
    closed: bool,
}

struct Server {
    stop: Stop,
    /// Until it is being collected.
    outcome: Option<Outcome>,
}

impl Trials {
    /// Keeps a server until it is collected or abandoned.
    pub(crate) fn serve(&self, token: Token, stop: &Stop, outcome: Outcome) -> Result<(), Refusal> {
        let mut open = self.lock();
        open.check()?;
        if open.servers.contains_key(&token) {
            return Err(already("server", token));
        }
        open.servers.insert(token, Server { stop: stop.clone(), outcome: Some(outcome) });
        Ok(())
    }

    /// Hands a server's record-to-come to the one who collects it.
    pub(crate) fn collect(&self, token: Token) -> Result<(Stop, Outcome), Refusal> {
        let mut open = self.lock();
        let server = open.servers.get_mut(&token).ok_or_else(|| Refusal::unknown(token))?;
        let outcome = server.outcome.take();
        let outcome = outcome.ok_or_else(|| Refusal::new("this trial is being collected already"))?;
        Ok((server.stop.clone(), outcome))
    }

    /// Forgets a server that was collected.
    pub(crate) fn forget_server(&self, token: Token) {
        self.lock().servers.remove(&token);
    }

    /// Runs `work` as the client of a trial, so that it can be abandoned.
    pub(crate) fn as_client<T>(
        &self,
        token: Token,
        work: impl FnOnce(&Stop) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let stop = Stop::new();
        let mut open = self.lock();
        open.check()?;
        if open.clients.contains_key(&token) {
            return Err(already("client", token));
        }
        open.clients.insert(token, stop.clone());
        drop(open);
        let result = work(&stop);
        self.lock().clients.remove(&token);
        result
    }

    /// Stops whatever a token has open. A server has let go of its port then, so that the next may have it.
    pub(crate) fn abandon(&self, token: Token) {
        let mut open = self.lock();
        let server = open.servers.remove(&token);
        server.iter().for_each(|server| server.stop.ask());
        open.clients.get(&token).iter().for_each(|stop| stop.ask());
        drop(open);
        if let Some(outcome) = server.and_then(|server| server.outcome) {
            // What it recorded is thrown away.
            let _ = outcome.recv_timeout(CLOSING);
        }
    }

    /// Stops everything, for good.
    pub(crate) fn stop_all(&self) {
        let mut open = self.lock();
        open.closed = true;
        open.servers.values().for_each(|server| server.stop.ask());
        open.clients.values().for_each(Stop::ask);
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn check(&self) -> Result<(), Refusal> {
        if self.closed { Err(Refusal::over()) } else { Ok(()) }
    }
}

fn already(end: &str, token: Token) -> Refusal {
    Refusal::new(format!("a {end} of trial {token} is open here already; abandon it first"))
}
