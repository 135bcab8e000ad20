//! The observer of a run: one more agent, on the machine itself and in no host of the lab, that carries no traffic and
//! says who had the CPUs in every trial, and in some watches with probes. What it cannot do is told once and ends no run. Must not know how a probe looks.

use std::{collections::BTreeSet, mem, net::Ipv4Addr, thread, time::Duration};

use machine::{Machine, Namespace};
use protocol::{BreakdownOrder, Observation, ObserveOrder, Order, Reply, Subject, Token, WatchedDevice};
use samples::{CpuOwner, CpuUsage, Environment, MissingProbe, ProbeKind};
use scenario::{HostName, Layer};
use units::Bytes;
use workload::{PingPongSettings, Transport, WorkloadSettings};

use crate::{
    agents::Agents,
    cpu,
    error::RunError,
    event::{Event, Observer},
    exchange::{self, Exchange},
    run::Request,
    stop::Stop,
};

/// What errors call its machine.
const NAME: &str = "observer";
/// For loading programs into the kernel and reading what they counted, on a machine with other work.
const PATIENCE: Duration = Duration::from_secs(20);
/// Every so many-th message is followed: hundreds in a second, at a small part of the cost.
const EVERY: u32 = 10;

/// The observer, and the probes that it still has.
pub(crate) struct Watcher {
    agents: Agents,
    host: HostName,
    probes: Vec<ProbeKind>,
    devices: Vec<WatchedDevice>,
    /// The trial that is watched just now.
    watching: Option<Token>,
    /// What went wrong in it.
    troubles: Vec<MissingProbe>,
    /// The probes that failed once in the planned trial that is being made.
    struck: BTreeSet<ProbeKind>,
    /// How long it may think about an answer.
    patience: Duration,
    /// Why it cannot be asked any more.
    lost: Option<RunError>,
    /// The probes that the run goes on without, and why.
    gone: Vec<MissingProbe>,
}

/// What becomes of a trial that was watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It counts.
    Kept,
    /// A probe failed for the first time: it is made once more.
    Again,
    /// It counts as one that nobody watched: no probe is left that sees anything of it.
    Over,
}

impl Watcher {
    /// Starts the observer of a run and lets it try the probes that its plan has; says which of them cannot run here.
    pub(crate) fn start(
        request: &Request<'_>,
        stop: &Stop,
        devices: Vec<WatchedDevice>,
    ) -> Result<(Self, Vec<MissingProbe>), RunError> {
        let (host, probes) = (HostName::new(NAME), &request.plan.probes);
        let machine = Box::new(Namespace::own(host.clone(), request.agent.clone()));
        let mut watcher = Self::greeted((host, machine), request.tool, stop, probes, devices)?;
        watcher.agents = watcher.agents.inside(request.inside.is_some());
        let missing = watcher.try_probes()?;
        Ok((watcher, missing))
    }

    /// An observer in `machine`, which errors call by its name, that has greeted and not yet tried its probes.
    pub(crate) fn greeted(
        (host, machine): (HostName, Box<dyn Machine>),
        tool: &str,
        stop: &Stop,
        probes: &[ProbeKind],
        devices: Vec<WatchedDevice>,
    ) -> Result<Self, RunError> {
        // What boots slowly also thinks slowly.
        let patience = PATIENCE.max(machine.boot().patience * 2);
        let agents = Agents::start(vec![(host.clone(), machine)], tool, stop, &mut |_: &Event<'_>| ())?;
        let (probes, struck) = (probes.to_vec(), BTreeSet::new());
        let (watching, troubles, lost, gone) = (None, Vec::new(), None, Vec::new());
        Ok(Self { agents, host, probes, devices, watching, troubles, struck, patience, lost, gone })
    }

    /// Starts its machine once more, which fell silent, if that is worth it; it tries these probes anew.
    pub(crate) fn start_again(&mut self, probes: &[ProbeKind]) -> Result<bool, RunError> {
        (self.probes, self.lost, self.watching) = (probes.to_vec(), None, None);
        self.troubles.clear();
        self.agents.start_again(&self.host)
    }

    /// Tries every probe; those that cannot run are gone from now on.
    pub(crate) fn try_probes(&mut self) -> Result<Vec<MissingProbe>, RunError> {
        let token = exchange::token();
        self.observe(token, Vec::new(), &self.probes.clone(), Some(self.nowhere()))?;
        self.abandon(token);
        let mut missing = mem::take(&mut self.troubles);
        if let Some(because) = &self.lost {
            missing = all_missing(&self.probes, &because.to_string());
        }
        self.probes.retain(|kind| !missing.iter().any(|missing| missing.probe == *kind));
        Ok(missing)
    }

    /// Why it cannot be asked any more, if so.
    pub(crate) fn loss(&mut self) -> Option<RunError> {
        self.lost.take()
    }

    /// The machine that it is in, as it sees it.
    pub(crate) fn describe(&mut self) -> Result<Environment, RunError> {
        match self.agents.ask(&self.host, "describe its machine", Order::Describe, self.patience)? {
            Reply::Environment(environment) => Ok(environment),
            other => Err(exchange::unexpected(&self.host, &other)),
        }
    }

    /// It as one of agents, of which there is no other.
    pub(crate) fn agents(&mut self) -> &mut Agents {
        &mut self.agents
    }

    pub(crate) fn probes(&self) -> &[ProbeKind] {
        &self.probes
    }

    /// The probes that it had, or should have had, and that the run goes on without.
    pub(crate) fn gone(&self) -> &[MissingProbe] {
        &self.gone
    }

    /// Takes note of probes that an earlier part of the run had and this one cannot have.
    pub(crate) fn goes_without(&mut self, missing: &[MissingProbe]) {
        self.gone.extend_from_slice(missing);
    }

    /// Whether any of them sees something of such a load.
    pub(crate) fn sees(&self, load: &WorkloadSettings) -> bool {
        self.probes.iter().any(|kind| kind.sees(load))
    }

    /// Takes note that another planned trial is being made.
    pub(crate) fn next_trial(&mut self) {
        self.struck.clear();
    }

    /// Begins to watch the exchange of a token, whose server listens on `port`, with probes where it is to be probed. What
    /// fails is kept for the verdict.
    pub(crate) fn begin(
        &mut self,
        token: Token,
        exchange: &Exchange<'_>,
        port: u16,
        ends: Vec<Subject>,
    ) -> Result<(), RunError> {
        match exchange.probed {
            true => self.observe(token, ends, &self.probes.clone(), self.way(exchange, port)),
            false => self.observe(token, ends, &[], None),
        }
    }

    /// Ends watching; what was seen, if anything was.
    pub(crate) fn end(&mut self) -> Result<Option<Observation>, RunError> {
        let Some(token) = self.watching.take() else { return Ok(None) };
        match self.ask("read its probes", Order::Observed { token })? {
            Some(Reply::Observed(mut observation)) => {
                self.troubles.append(&mut observation.unread);
                Ok(Some(observation))
            }
            _ => Ok(None),
        }
    }

    /// What the machine does in so long, with nothing of ours running; `None` where nobody can tell.
    pub(crate) fn idle_for(&mut self, time: Duration) -> Result<Option<CpuUsage>, RunError> {
        self.observe(exchange::token(), Vec::new(), &[], None)?;
        thread::sleep(time);
        Ok(self.end()?.map(|seen| cpu::beside(CpuUsage::default(), seen.host)))
    }

    /// Ends watching whatever it watches just now, which came to nothing.
    pub(crate) fn give_up(&mut self) {
        if let Some(token) = self.watching {
            self.abandon(token);
        }
    }

    /// Ends watching a trial that came to nothing.
    pub(crate) fn abandon(&mut self, token: Token) {
        self.watching = None;
        if self.lost.is_none() {
            // An observer that cannot be reached watches nothing, and the next order says so.
            let _ = self.agents.request(&self.host, "end watching", Order::Abandon { token }, self.patience);
        }
    }

    /// What becomes of the trial of such a load that was watched just now; tells what went wrong.
    pub(crate) fn judge(&mut self, load: &WorkloadSettings, observer: &mut dyn Observer) -> Verdict {
        if let Some(because) = &self.lost {
            let text = format!("{because}; the run goes on without probes");
            observer.event(&Event::Notice(&text));
            self.gone.extend(all_missing(&self.probes, &because.to_string()));
            self.probes.clear();
            return Verdict::Over;
        }
        let mut again = false;
        for MissingProbe { probe, because } in mem::take(&mut self.troubles) {
            let Some(place) = self.probes.iter().position(|kind| *kind == probe) else {
                continue;
            };
            let next = if self.struck.insert(self.probes[place]) {
                again = true;
                "the trial is made once more"
            } else {
                self.probes.remove(place);
                self.gone.push(MissingProbe { probe, because: because.clone() });
                "the run goes on without it"
            };
            let text = format!("probe {}: {because}; {next}", probe.word());
            observer.event(&Event::Notice(&text));
        }
        match (again, self.sees(load)) {
            (true, _) => Verdict::Again,
            (false, false) => Verdict::Over,
            (false, true) => Verdict::Kept,
        }
    }

    fn observe(
        &mut self,
        token: Token,
        mut subjects: Vec<Subject>,
        probes: &[ProbeKind],
        way: Option<BreakdownOrder>,
    ) -> Result<(), RunError> {
        let pids = [std::process::id()].into_iter().chain(self.agents.pids(&self.host)).collect();
        subjects.push(Subject::of(CpuOwner::Plumb, pids, false));
        let way = way.filter(|_| probes.contains(&ProbeKind::PacketWay));
        let order = Order::Observe(ObserveOrder { token, probes: probes.to_vec(), subjects, way });
        if let Some(Reply::Observing(observing)) = self.ask("watch a trial", order)? {
            self.watching = Some(token);
            self.troubles.extend(observing.missing);
        }
        Ok(())
    }

    /// The messages of an exchange, if they can be followed.
    fn way(&self, exchange: &Exchange<'_>, port: u16) -> Option<BreakdownOrder> {
        let ping = PingPongSettings::of(&exchange.cell.load)?;
        // From here nothing of a guest is seen: all that happens in it would be taken for the wake-up of the other end.
        if exchange.path.layers.contains(&Layer::Virtio) {
            return None;
        }
        ProbeKind::PacketWay.sees(&exchange.cell.load).then(|| BreakdownOrder {
            transport: ping.transport,
            server: exchange.path.to.address,
            port,
            message: ping.message,
            every: EVERY,
            devices: self.devices.clone(),
        })
    }

    /// Messages that nobody sends: a probe is tried by looking for them.
    fn nowhere(&self) -> BreakdownOrder {
        BreakdownOrder {
            transport: Transport::Udp,
            server: Ipv4Addr::LOCALHOST,
            port: 9,
            message: Bytes(64),
            every: EVERY,
            devices: self.devices.clone(),
        }
    }

    /// Its answer, if it has one; only the user's wish to end is an error.
    fn ask(&mut self, what: &'static str, order: Order) -> Result<Option<Reply>, RunError> {
        if self.lost.is_some() {
            return Ok(None);
        }
        match self.agents.ask(&self.host, what, order, self.patience) {
            Ok(reply) => Ok(Some(reply)),
            Err(RunError::Interrupted) => Err(RunError::Interrupted),
            Err(RunError::Refused { because, .. }) => {
                self.troubles.extend(all_missing(&self.probes, &because));
                Ok(None)
            }
            Err(error) => {
                self.lost = Some(error);
                // One that is only slow would leave its probes on, and trials without probes would pay for them.
                self.agents.end(&self.host);
                Ok(None)
            }
        }
    }
}

/// All of these, for one reason.
pub(crate) fn all_missing(probes: &[ProbeKind], because: &str) -> Vec<MissingProbe> {
    let missing = |kind: &_| MissingProbe { probe: *kind, because: because.to_owned() };
    probes.iter().map(missing).collect()
}

#[cfg(test)]
mod tests;
