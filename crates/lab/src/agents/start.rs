//! Starts the agents of a run.

use std::{collections::BTreeMap, sync::mpsc::sync_channel, thread, time::Duration};

use machine::{AgentClient, Machine, Wait};
use protocol::FromAgent;
use scenario::HostName;

use super::{AgentEvent, Agents, Endpoint};
use crate::{
    allowance,
    error::RunError,
    event::{Event, Observer},
    left_out::LeftOut,
    stop::Stop,
    timeout_factors::TimeoutFactors,
};

const MAX_STARTS: u32 = 2;

type Waiting = Vec<(HostName, Box<dyn Machine>)>;

impl Agents {
    pub(crate) fn start(
        machines: Waiting,
        tool: &str,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Self, RunError> {
        Self::start_all(machines, Vec::new(), TimeoutFactors::NONE, tool, stop, observer)
    }

    /// At most one machine per CPU boots at a time. A machine that hangs during boot is restarted once, and this is
    /// reported. Optional hosts that fail are left out.
    pub(crate) fn start_all(
        mut waiting: Waiting,
        dispensable: Vec<HostName>,
        timeout_factors: TimeoutFactors,
        tool: &str,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Self, RunError> {
        let (to_us, events) = sync_channel(allowance::WAITING);
        let mut agents = Self {
            endpoints: BTreeMap::new(),
            seats: BTreeMap::new(),
            to_us,
            events,
            tool: tool.to_owned(),
            stop: stop.clone(),
            timeout_factors,
            dispensable,
            left_out: LeftOut::default(),
        };
        loop {
            while let Some(place) = waiting.iter().position(|(_, machine)| agents.has_room_for(&**machine)) {
                let (host, machine) = waiting.remove(place);
                if let Err(error) = agents.begin(&host, machine, 1, observer) {
                    agents.leave_out(error, observer)?;
                }
            }
            if agents.endpoints.values().all(|endpoint| endpoint.ready_within.is_some()) {
                return Ok(agents);
            }
            if let Err(error) = agents.await_greeting(observer) {
                agents.leave_out(error, observer)?;
            }
        }
    }

    /// # Errors
    /// Returns the error if it concerns no host, or a required host.
    pub(crate) fn leave_out(&mut self, error: RunError, observer: &mut dyn Observer) -> Result<(), RunError> {
        let host = error.host().map(HostName::new);
        let Some(host) = host.filter(|host| self.dispensable.contains(host) && !self.left_out.has(host))
        else {
            return Err(error);
        };
        if let Some(mut endpoint) = self.endpoints.remove(&host) {
            endpoint.machine.stop();
        }
        observer.event(&Event::Notice(&format!("{error}: continuing without host {host}")));
        self.left_out.host(host, error.to_string());
        Ok(())
    }

    pub(crate) fn start_again(&mut self, host: &HostName) -> Result<bool, RunError> {
        let Endpoint { machine, starts, .. } = &self.endpoints[host];
        if !machine.boot().may_hang || *starts == MAX_STARTS {
            return Ok(false);
        }
        self.restart(host, &mut |_: &Event<'_>| ())?;
        while self.endpoints[host].ready_within.is_none() {
            self.await_greeting(&mut |_: &Event<'_>| ())?;
        }
        Ok(true)
    }

    fn begin(
        &mut self,
        host: &HostName,
        mut machine: Box<dyn Machine>,
        starts: u32,
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        if machine.boot().own_kernel {
            observer.event(&Event::Boots { host: host.as_str() });
        }
        let started = Wait::begin(Duration::ZERO);
        let channel = machine.start()?;
        let (to_us, of) = (self.to_us.clone(), host.clone());
        let mut client = AgentClient::new(channel, allowance::USUAL, move |message| {
            to_us.send(AgentEvent { host: of.clone(), start: starts, message }).is_ok()
        });
        let greeted = client.greet(&self.tool);
        let endpoint = Endpoint { machine, client, serves: None, starts, started, ready_within: None };
        self.endpoints.insert(host.clone(), endpoint);
        greeted.map_err(|source| self.lost(host, source))
    }

    /// If more machines than CPUs booted at once, all would boot too slowly for their timeouts.
    fn has_room_for(&self, machine: &dyn Machine) -> bool {
        let booting =
            |endpoint: &&Endpoint| endpoint.ready_within.is_none() && endpoint.machine.boot().own_kernel;
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        !machine.boot().own_kernel || self.endpoints.values().filter(booting).count() < cpus
    }

    fn await_greeting(&mut self, observer: &mut dyn Observer) -> Result<(), RunError> {
        if let Some((host, FromAgent::Hello(hello))) = self.hear()? {
            hello.accept().map_err(|source| self.lost(&host, source))?;
            if let Some(endpoint) = self.endpoints.get_mut(&host) {
                let within = endpoint.started.elapsed();
                endpoint.ready_within = Some(within);
                if endpoint.machine.boot().own_kernel {
                    observer.event(&Event::Booted { host: host.as_str(), within: within.into() });
                }
            }
        }
        let late = self.endpoints.iter().find(|(_, endpoint)| endpoint.is_late(self.timeout_factors));
        match late.map(|(host, _)| host.clone()) {
            Some(host) => self.again(&host, observer),
            None => Ok(()),
        }
    }

    fn again(&mut self, host: &HostName, observer: &mut dyn Observer) -> Result<(), RunError> {
        let Endpoint { machine, starts, started, .. } = &self.endpoints[host];
        let (starts, boot) = (*starts, machine.boot());
        let error = self.silent(host, "answer the greeting", started.elapsed());
        if !boot.may_hang || starts == MAX_STARTS {
            return Err(error);
        }
        let text = format!("{error}; restarting the machine; no measurement was affected");
        observer.event(&Event::Notice(&text));
        self.restart(host, observer)
    }

    fn restart(&mut self, host: &HostName, observer: &mut dyn Observer) -> Result<(), RunError> {
        let Endpoint { mut machine, starts, .. } = self.endpoints.remove(host).expect("it has an agent");
        machine.stop();
        self.begin(host, machine, starts + 1, observer)
    }
}

impl Endpoint {
    fn is_late(&self, timeout_factors: TimeoutFactors) -> bool {
        let patience = self.machine.boot().patience * timeout_factors.boots;
        self.ready_within.is_none() && self.started.exceeds(patience, || self.machine.starved())
    }
}
