//! Starts the agents of a run, sends them orders and stops them.

use std::{
    collections::BTreeMap,
    io::Write,
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use machine::{Machine, Monitor};
use protocol::{ChannelError, FromAgent, Hello, LineLimit, Order, Progress, Reply, ToAgent};
use samples::BootedMachine;
use scenario::{HostName, Lab};
use units::Nanos;

use workload::WorkloadSettings;

use crate::{
    allowance,
    error::RunError,
    event::{Event, Observer},
    left_out::LeftOut,
    stop::Stop,
};

/// Margin over an order's own deadline, so that the agent's error arrives first.
const GRACE: Duration = Duration::from_secs(2);
/// Polling interval for interrupts.
const POLL: Duration = Duration::from_millis(50);

/// Timeout factor in an emulated machine.
const EMULATED_SLOWNESS: u32 = 6;

/// Maximum number of starts of a machine that may hang during boot.
const MAX_STARTS: u32 = 2;

/// Machines to start.
type Waiting = Vec<(HostName, Box<dyn Machine>)>;

/// All agents of a run. Dropping it stops them.
pub(crate) struct Agents {
    endpoints: BTreeMap<HostName, Endpoint>,
    /// Hosts served by another host's agent.
    seats: BTreeMap<HostName, HostName>,
    to_us: SyncSender<AgentEvent>,
    events: Receiver<AgentEvent>,
    tool: String,
    next_id: u64,
    stop: Stop,
    /// Timeout factor.
    slowness: u32,
    /// Hosts that may be left out.
    dispensable: Vec<HostName>,
    /// Hosts that were left out.
    pub(crate) left_out: LeftOut,
}

struct Endpoint {
    machine: Box<dyn Machine>,
    to_agent: protocol::Sender<Box<dyn Write + Send>>,
    /// Current limit for lines from the agent.
    limit: LineLimit,
    /// The last workload it served.
    serves: Option<WorkloadSettings>,
    starts: u32,
    /// Time of the last start.
    started: Instant,
    /// Time from start to greeting.
    ready_within: Option<Duration>,
}

/// A message from one start of an agent.
struct AgentEvent {
    host: HostName,
    start: u32,
    message: Incoming,
}

enum Incoming {
    Message(FromAgent),
    Ended(ChannelError),
}

/// A request without a reply yet.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    host: HostName,
    id: u64,
    what: &'static str,
    deadline: Duration,
}

impl Agents {
    /// Starts an agent in each machine. All hosts are required.
    pub(crate) fn start(
        machines: Waiting,
        tool: &str,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Self, RunError> {
        Self::start_all((machines, Vec::new()), tool, stop, observer)
    }

    /// Starts an agent in each machine and exchanges greetings. Boots at most one machine per CPU at a time. Restarts
    /// a machine that hangs during boot once and reports it. Leaves out dispensable hosts that fail.
    pub(crate) fn start_all(
        (machines, dispensable): (Waiting, Vec<HostName>),
        tool: &str,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Self, RunError> {
        let (to_us, events) = sync_channel(allowance::WAITING);
        let (endpoints, tool, stop) = (BTreeMap::new(), tool.to_owned(), stop.clone());
        let seats = BTreeMap::new();
        let (next_id, slowness, left_out) = (0, 1, LeftOut::default());
        let mut agents =
            Self { endpoints, seats, to_us, events, tool, next_id, stop, slowness, dispensable, left_out };
        let mut waiting = machines;
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

    /// Leaves out the host of the error.
    ///
    /// # Errors
    /// Returns the error if it concerns no host, or a required one.
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

    /// Raises timeouts if this program itself runs in an emulated machine.
    pub(crate) fn inside(self, emulated: bool) -> Self {
        Self { slowness: if emulated { EMULATED_SLOWNESS } else { 1 }, ..self }
    }

    /// Lets agents of existing hosts configure the lab devices on those hosts.
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

    /// Process IDs of the host's machine.
    pub(crate) fn pids(&self, host: &HostName) -> Vec<u32> {
        self.endpoints.get(host).map(|endpoint| endpoint.machine.pids()).unwrap_or_default()
    }

    /// The monitor for resizing the host's memory. `None` if there is none, or it was already taken.
    pub(crate) fn take_monitor(&mut self, host: &HostName) -> Option<Monitor> {
        self.endpoints.get_mut(host)?.machine.take_monitor()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_asked()
    }

    /// Time until the first process ran, for a machine started by the run.
    pub(crate) fn booted_within(&self, host: &HostName) -> Option<Duration> {
        self.endpoints.get(host)?.machine.condition().booted_within
    }

    /// Time from machine start to the agent's greeting.
    pub(crate) fn ready_within(&self, host: &HostName) -> Option<Duration> {
        self.endpoints.get(host)?.ready_within
    }

    /// Current state of the machines booted for the run.
    pub(crate) fn booted(&self) -> Vec<BootedMachine> {
        let booted = self.endpoints.iter().filter(|(_, endpoint)| endpoint.machine.boot().own_kernel);
        let machines = booted.map(|(host, endpoint)| BootedMachine {
            host: host.to_string(),
            booted: endpoint.machine.condition().booted_within.map(Nanos::from),
            ready: endpoint.ready_within.unwrap_or_default().into(),
            resident: machine::resident(&endpoint.machine.pids()),
        });
        machines.collect()
    }

    /// Number of starts that hung.
    pub(crate) fn hung_starts(&self, host: &HostName) -> u32 {
        self.endpoints.get(host).map_or(0, |endpoint| endpoint.starts - 1)
    }

    /// A known problem of the host's machine.
    pub(crate) fn trouble(&self, host: &HostName) -> Option<String> {
        self.endpoints.get(host)?.machine.condition().trouble
    }

    /// Restarts a silent machine and waits for its greeting. Returns `false` if the machine cannot hang during boot,
    /// or was restarted before.
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

    /// Sends an order and waits for the reply.
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

    /// Stops an agent immediately. It accepts no further orders.
    pub(crate) fn end(&mut self, host: &HostName) {
        if let Some(endpoint) = self.endpoints.get_mut(host) {
            endpoint.machine.stop();
        }
    }

    /// Sends an order without waiting.
    pub(crate) fn request(
        &mut self,
        host: &HostName,
        what: &'static str,
        order: Order,
        deadline: Duration,
    ) -> Result<Pending, RunError> {
        self.next_id += 1;
        let host = &self.seats.get(host).unwrap_or(host).clone();
        let (id, deadline) = (self.next_id, deadline * self.slowness);
        if let Some(endpoint) = self.endpoints.get_mut(host) {
            endpoint.limit.raise_to(allowance::answer_to(&order, endpoint.serves.as_ref()));
            if let Order::Serve(server) = &order {
                endpoint.serves = Some(server.load.clone());
            }
        }
        self.tell(host, &ToAgent::Request { id, deadline: Nanos::from(deadline), order })?;
        Ok(Pending { host: host.clone(), id, what, deadline })
    }

    /// Waits for all replies, and returns them in the order of `pending`.
    pub(crate) fn wait(
        &mut self,
        pending: &[Pending],
        mut progress: impl FnMut(&Progress),
    ) -> Result<Vec<Reply>, RunError> {
        let begun = Instant::now();
        let mut replies: Vec<Option<Reply>> = pending.iter().map(|_| None).collect();
        while let Some(open) = replies.iter().position(Option::is_none) {
            let late = begun.elapsed() > pending[open].deadline + GRACE;
            if late {
                return Err(self.silent(
                    &pending[open].host,
                    pending[open].what,
                    pending[open].deadline + GRACE,
                ));
            }
            let Some((host, message)) = self.hear()? else { continue };
            let place = |id: u64| pending.iter().position(|request| request.id == id);
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
        // No long message is expected from here on.
        for endpoint in pending.iter().filter_map(|request| self.endpoints.get(&request.host)) {
            endpoint.limit.set(allowance::USUAL);
        }
        Ok(replies.into_iter().flatten().collect())
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
        let started = Instant::now();
        let channel = machine.start()?;
        let limit = LineLimit::new(allowance::USUAL);
        let from_agent = protocol::Receiver::bounded(channel.from_agent, limit.clone());
        listen((host.clone(), starts), from_agent, self.to_us.clone());
        let to_agent = protocol::Sender::new(channel.to_agent);
        let (serves, ready_within) = (None, None);
        let endpoint = Endpoint { machine, to_agent, limit, serves, starts, started, ready_within };
        self.endpoints.insert(host.clone(), endpoint);
        let hello = Hello::new(&self.tool);
        self.tell(host, &ToAgent::Hello(hello))
    }

    /// More booting machines than CPUs would slow all of them beyond their timeouts.
    fn has_room_for(&self, machine: &dyn Machine) -> bool {
        let booting =
            |endpoint: &&Endpoint| endpoint.ready_within.is_none() && endpoint.machine.boot().own_kernel;
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        !machine.boot().own_kernel || self.endpoints.values().filter(booting).count() < cpus
    }

    /// Waits up to one polling interval for a greeting, then restarts a machine that is late.
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
        let late = self.endpoints.iter().find(|(_, endpoint)| endpoint.is_late());
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
        let text = format!("{error}; restarting it; no measurement was affected");
        observer.event(&Event::Notice(&text));
        self.restart(host, observer)
    }

    fn restart(&mut self, host: &HostName, observer: &mut dyn Observer) -> Result<(), RunError> {
        let Endpoint { mut machine, starts, .. } = self.endpoints.remove(host).expect("it has an agent");
        machine.stop();
        self.begin(host, machine, starts + 1, observer)
    }

    /// The next message, or `None` after one polling interval.
    fn hear(&mut self) -> Result<Option<(HostName, FromAgent)>, RunError> {
        if self.stop.is_asked() {
            return Err(RunError::Interrupted);
        }
        match self.events.recv_timeout(POLL) {
            // Ignore messages from an earlier start.
            Ok(event) if self.endpoints.get(&event.host).is_none_or(|now| now.starts != event.start) => {
                Ok(None)
            }
            Ok(AgentEvent { host, message: Incoming::Message(message), .. }) => Ok(Some((host, message))),
            Ok(AgentEvent { host, message: Incoming::Ended(source), .. }) => Err(self.lost(&host, source)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
        }
    }

    fn tell(&mut self, host: &HostName, message: &ToAgent) -> Result<(), RunError> {
        let endpoint = self.endpoints.get_mut(host).expect("each end of a path has an agent");
        endpoint.to_agent.send(message).map_err(|source| self.lost(host, source))
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

impl Endpoint {
    fn is_late(&self) -> bool {
        let patience = self.machine.boot().patience;
        let waited = || self.started.elapsed().saturating_sub(self.machine.starved());
        self.ready_within.is_none() && self.started.elapsed() > patience && waited() > patience
    }
}

/// Forwards messages from an agent until its channel closes.
fn listen(
    (host, start): (HostName, u32),
    mut receiver: protocol::Receiver<Box<dyn std::io::Read + Send>>,
    to: SyncSender<AgentEvent>,
) {
    thread::spawn(move || {
        loop {
            let message = receiver.receive().map_or_else(Incoming::Ended, Incoming::Message);
            let ended = matches!(message, Incoming::Ended(_));
            if to.send(AgentEvent { host: host.clone(), start, message }).is_err() || ended {
                return;
            }
        }
    });
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
