//! Sends orders to the agents of a run and waits for their replies.

mod start;

use std::{
    collections::{BTreeMap, hash_map::RandomState},
    hash::{BuildHasher, Hasher},
    io::ErrorKind,
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender},
    time::Duration,
};

use machine::{AgentClient, Machine, Monitor, Wait};
use protocol::{ChannelError, FromAgent, Order, Progress, Reply, Token};
use samples::BootedMachine;
use scenario::{DeviceRef, DeviceSettings, Fault, HostName, Lab, Vm};
use units::Nanos;

use workload::WorkloadSettings;

use crate::{allowance, error::RunError, left_out::LeftOut, stop::Stop, timeout_factors::TimeoutFactors};

const GRACE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(50);

pub(crate) struct Agents {
    endpoints: BTreeMap<HostName, Endpoint>,
    seats: BTreeMap<HostName, HostName>,
    to_us: SyncSender<AgentEvent>,
    events: Receiver<AgentEvent>,
    tool: String,
    stop: Stop,
    pub(crate) timeout_factors: TimeoutFactors,
    dispensable: Vec<HostName>,
    pub(crate) left_out: LeftOut,
}

struct Endpoint {
    machine: Box<dyn Machine>,
    client: AgentClient,
    serves: Option<WorkloadSettings>,
    starts: u32,
    started: Wait,
    ready_within: Option<Duration>,
}

struct AgentEvent {
    host: HostName,
    start: u32,
    message: Result<FromAgent, ChannelError>,
}

#[derive(Debug, Clone)]
pub(crate) struct Pending {
    host: HostName,
    id: u64,
    what: &'static str,
    deadline: Duration,
}

impl Agents {
    pub(crate) fn with_seats(self, lab: &Lab) -> Self {
        let seat = |host: &HostName| Some((host.clone(), lab.seat(host)?.clone()));
        Self { seats: lab.hosts.iter().filter_map(|host| seat(&host.name)).collect(), ..self }
    }

    pub(crate) fn hosts(&self) -> impl Iterator<Item = &HostName> {
        self.endpoints.keys()
    }

    pub(crate) fn has(&self, host: &HostName) -> bool {
        self.endpoints.contains_key(host)
    }

    pub(crate) fn pids(&self, host: &HostName) -> Vec<u32> {
        self.endpoints.get(host).map(|endpoint| endpoint.machine.pids()).unwrap_or_default()
    }

    pub(crate) fn limit_cpus(
        &mut self,
        settings: &BTreeMap<DeviceRef, DeviceSettings>,
    ) -> Result<(), RunError> {
        for (host, endpoint) in &mut self.endpoints {
            let faults = settings.iter().filter(|(at, _)| at.host == *host);
            let limit =
                faults.filter_map(|(_, settings)| settings.fault.as_ref()?.fault).find_map(
                    |fault| match fault {
                        Fault::CpuLimit { millicpus } => Some(millicpus),
                        _ => None,
                    },
                );
            endpoint.machine.limit_cpu(limit).map_err(|error| RunError::Refused {
                host: host.to_string(),
                what: "get a CPU limit",
                unsupported: [ErrorKind::Unsupported, ErrorKind::PermissionDenied].contains(&error.kind()),
                reason: error.to_string(),
            })?;
        }
        Ok(())
    }

    pub(crate) fn take_monitor(&mut self, host: &HostName) -> Option<Monitor> {
        self.endpoints.get_mut(host)?.machine.take_monitor()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_asked()
    }

    pub(crate) fn booted_within(&self, host: &HostName) -> Option<Duration> {
        self.endpoints.get(host)?.machine.condition().booted_within
    }

    pub(crate) fn ready_within(&self, host: &HostName) -> Option<Duration> {
        self.endpoints.get(host)?.ready_within
    }

    pub(crate) fn booted(&self, lab: &Lab) -> Vec<BootedMachine> {
        let booted = self.endpoints.iter().filter(|(_, endpoint)| endpoint.machine.boot().own_kernel);
        let machines = booted.map(|(host, endpoint)| BootedMachine {
            host: host.to_string(),
            booted: endpoint.machine.condition().booted_within.map(Nanos::from),
            ready: endpoint.ready_within.unwrap_or_default().into(),
            resident: machine::resident(&endpoint.machine.pids()),
            settings: lab.vm(host).map(Vm::record),
            kernel: endpoint.machine.guest_kernel().map(str::to_owned),
        });
        machines.collect()
    }

    pub(crate) fn hung_starts(&self, host: &HostName) -> u32 {
        self.endpoints.get(host).map_or(0, |endpoint| endpoint.starts - 1)
    }

    pub(crate) fn trouble(&self, host: &HostName) -> Option<String> {
        self.endpoints.get(host)?.machine.condition().trouble
    }

    pub(crate) fn ask(
        &mut self,
        host: &HostName,
        what: &'static str,
        order: Order,
        deadline: Duration,
    ) -> Result<Reply, RunError> {
        let pending = self.request(host, what, order, deadline)?;
        let mut replies = self.wait(&[pending], |_| ())?;
        Ok(replies.remove(0))
    }

    pub(crate) fn end(&mut self, host: &HostName) {
        if let Some(endpoint) = self.endpoints.get_mut(host) {
            endpoint.machine.stop();
        }
    }

    pub(crate) fn request(
        &mut self,
        host: &HostName,
        what: &'static str,
        order: Order,
        deadline: Duration,
    ) -> Result<Pending, RunError> {
        let host = &self.seats.get(host).unwrap_or(host).clone();
        let deadline = deadline * self.timeout_factors.orders;
        let endpoint = self.endpoints.get_mut(host).expect("each end of a path has an agent");
        endpoint.client.limit.raise_to(allowance::answer_to(&order, endpoint.serves.as_ref()));
        if let Order::Serve(server) = &order {
            endpoint.serves = Some(server.load.clone());
        }
        let id = endpoint.client.request(order, deadline).map_err(|source| self.lost(host, source))?;
        Ok(Pending { host: host.clone(), id, what, deadline })
    }

    pub(crate) fn wait(
        &mut self,
        pending: &[Pending],
        mut progress: impl FnMut(&Progress),
    ) -> Result<Vec<Reply>, RunError> {
        let begin = |request: &Pending| Wait::begin(self.starved(&request.host));
        let waits: Vec<Wait> = pending.iter().map(begin).collect();
        let mut replies: Vec<Option<Reply>> = pending.iter().map(|_| None).collect();
        while let Some(open) = replies.iter().position(Option::is_none) {
            let Pending { host, what, deadline, .. } = &pending[open];
            if waits[open].exceeds(*deadline + GRACE, || self.starved(host)) {
                return Err(self.silent(host, what, waits[open].elapsed()));
            }
            let Some((host, message)) = self.hear()? else { continue };
            let place = |id| pending.iter().position(|request| request.id == id && request.host == host);
            match message {
                FromAgent::Progress(beat) => progress(&beat),
                FromAgent::Reply { id, reply } => {
                    if let Some(place) = place(id) {
                        replies[place] = Some(*reply);
                    }
                }
                FromAgent::Refused { id, reason, unsupported } => {
                    if let Some(place) = place(id) {
                        let what = pending[place].what;
                        return Err(RunError::Refused { host: host.to_string(), what, reason, unsupported });
                    }
                }
                FromAgent::Hello(_) => {}
            }
        }
        // No long message is expected after this point.
        for endpoint in pending.iter().filter_map(|request| self.endpoints.get(&request.host)) {
            endpoint.client.limit.set(allowance::USUAL);
        }
        Ok(replies.into_iter().flatten().collect())
    }

    fn hear(&mut self) -> Result<Option<(HostName, FromAgent)>, RunError> {
        if self.stop.is_asked() {
            return Err(RunError::Interrupted);
        }
        match self.events.recv_timeout(POLL) {
            Ok(event) if self.endpoints.get(&event.host).is_none_or(|now| now.starts != event.start) => {
                Ok(None)
            }
            Ok(AgentEvent { host, message: Ok(message), .. }) => Ok(Some((host, message))),
            Ok(AgentEvent { host, message: Err(source), .. }) => Err(self.lost(&host, source)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
        }
    }

    fn starved(&self, host: &HostName) -> Duration {
        self.endpoints.get(host).map_or(Duration::ZERO, |endpoint| endpoint.machine.starved())
    }

    fn lost(&self, host: &HostName, source: ChannelError) -> RunError {
        RunError::Agent { host: host.to_string(), source, output: self.last_output(host) }
    }

    fn silent(&self, host: &HostName, what: &'static str, waited: Duration) -> RunError {
        let output = self.last_output(host);
        RunError::Silent { host: host.to_string(), what, seconds: waited.as_secs_f64(), output }
    }

    fn last_output(&self, host: &HostName) -> String {
        let endpoint = self.endpoints.get(host);
        endpoint.map(|endpoint| endpoint.machine.condition().last_output).unwrap_or_default()
    }
}

pub(crate) const SHORT: Duration = Duration::from_secs(10);

/// Other hosts on the path cannot guess the token, because the kernel seeds the standard library's hasher.
pub(crate) fn token() -> Token {
    Token(RandomState::new().build_hasher().finish())
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
