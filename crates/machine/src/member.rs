//! A host with a fleet member, which starts the agent and connects to it over NATS.

use std::sync::Arc;

use fleet::{Controller, Session};
use scenario::HostName;

use crate::{Condition, Machine, channel::Channel, error::MachineError};

#[derive(Debug)]
pub struct Member {
    host: HostName,
    name: String,
    run: String,
    fleet: Arc<Controller>,
    session: Option<Session>,
    last_output: String,
}

impl Member {
    #[must_use]
    pub fn new(host: HostName, name: String, fleet: Arc<Controller>, run: String) -> Self {
        Self { host, name, run, fleet, session: None, last_output: String::new() }
    }
}

impl Machine for Member {
    fn start(&mut self) -> Result<Channel, MachineError> {
        if self.session.is_some() {
            return Err(MachineError::Started { host: self.host.to_string() });
        }
        let started = self.fleet.start(&self.name, &self.run);
        let (session, reader, writer) =
            started.map_err(|source| MachineError::Member { host: self.host.to_string(), source })?;
        self.session = Some(session);
        Ok(Channel { from_agent: Box::new(reader), to_agent: Box::new(writer) })
    }

    fn pids(&self) -> Vec<u32> {
        Vec::new()
    }

    fn stop(&mut self) {
        if let Some(session) = self.session.take() {
            self.last_output = session.last_output().unwrap_or_default();
        }
    }

    fn condition(&self) -> Condition {
        let output =
            self.session.as_ref().and_then(|session| session.last_output().or_else(|| session.trouble()));
        Condition { last_output: output.unwrap_or_else(|| self.last_output.clone()), ..Condition::default() }
    }
}
