//! The observer of a run: one more agent, on the machine itself and in no host of the lab, that carries no traffic and
//! watches trials with probes. What it cannot do is told once and ends no run. Must not know how a probe looks.

use std::{collections::BTreeSet, mem, net::Ipv4Addr, path::PathBuf, time::Duration};

use load::Transport;
use machine::{Host, Machine};
use protocol::{ObserveOrder, Order, Reply, Seen, Subject, Token, WatchedDevice, WayOrder};
use samples::{MissingProbe, Observed, Owner};
use scenario::{Cell, HostName, ProbeKind};
use units::Bytes;

use crate::{
    agents::Agents,
    error::RunError,
    event::{Event, Observer},
    exchange::{self, Exchange},
    record,
    stop::Stop,
    watch::all_missing,
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
    /// Why it cannot be asked any more.
    lost: Option<String>,
}

/// What becomes of a trial that was watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It counts.
    Kept,
    /// A probe failed for the first time: it is made once more.
    Again,
    /// No probe is left that sees anything of it.
    Over,
}

impl Watcher {
    /// Starts the observer and lets it try these probes; says which of them cannot run here.
    pub(crate) fn start(
        agent: PathBuf,
        tool: &str,
        stop: &Stop,
        probes: &[ProbeKind],
        devices: Vec<WatchedDevice>,
    ) -> Result<(Self, Vec<MissingProbe>), RunError> {
        let machine = Box::new(Host::new(HostName::new(NAME), agent));
        Self::start_in(machine, tool, stop, probes, devices)
    }

    fn start_in(
        machine: Box<dyn Machine>,
        tool: &str,
        stop: &Stop,
        probes: &[ProbeKind],
        devices: Vec<WatchedDevice>,
    ) -> Result<(Self, Vec<MissingProbe>), RunError> {
        let host = HostName::new(NAME);
        let agents = Agents::start(vec![(host.clone(), machine)], tool, stop)?;
        let (probes, struck) = (probes.to_vec(), BTreeSet::new());
        let mut watcher =
            Self { agents, host, probes, devices, watching: None, troubles: Vec::new(), struck, lost: None };
        let token = exchange::token();
        let way = Some(nowhere()).filter(|_| watcher.probes.contains(&ProbeKind::PacketWay));
        watcher.observe(token, Vec::new(), way)?;
        watcher.abandon(token);
        let mut missing = mem::take(&mut watcher.troubles);
        if let Some(because) = &watcher.lost {
            missing = all_missing(&watcher.probes, because);
        }
        watcher.probes.retain(|kind| !missing.iter().any(|missing| missing.probe == record::probe(*kind)));
        Ok((watcher, missing))
    }

    /// The probes that it has.
    pub(crate) fn probes(&self) -> &[ProbeKind] {
        &self.probes
    }

    /// Whether any of them sees something of a cell.
    pub(crate) fn sees(&self, cell: &Cell) -> bool {
        self.probes.iter().any(|kind| kind.sees(&cell.load))
    }

    /// Takes note that another planned trial is being made.
    pub(crate) fn next_trial(&mut self) {
        self.struck.clear();
    }

    /// Begins to watch the exchange of a token, whose server listens on `port`. What fails is kept for the verdict.
    pub(crate) fn begin(
        &mut self,
        token: Token,
        exchange: &Exchange<'_>,
        port: u16,
        ends: Vec<Subject>,
    ) -> Result<(), RunError> {
        let way = exchange.way(port, EVERY).filter(|_| self.probes.contains(&ProbeKind::PacketWay));
        self.observe(token, ends, way)
    }

    /// Ends watching; what was seen, if anything was.
    pub(crate) fn end(&mut self) -> Result<Option<Observed>, RunError> {
        let Some(token) = self.watching.take() else { return Ok(None) };
        match self.ask("read its probes", Order::Observed { token })? {
            Some(Reply::Observed(Seen { observed, unread })) => {
                self.troubles.extend(unread);
                Ok(Some(observed))
            }
            _ => Ok(None),
        }
    }

    /// Ends watching a trial that came to nothing.
    pub(crate) fn abandon(&mut self, token: Token) {
        self.watching = None;
        if self.lost.is_none() {
            // An observer that cannot be reached watches nothing, and the next order says so.
            let _ = self.agents.request(&self.host, "end watching", Order::Abandon { token }, PATIENCE);
        }
    }

    /// What becomes of the trial that was watched just now; tells what went wrong.
    pub(crate) fn judge(&mut self, observer: &mut dyn Observer) -> Verdict {
        if let Some(because) = &self.lost {
            let text = format!("{because}; the run goes on without probes");
            observer.event(&Event::Notice(&text));
            self.probes.clear();
            return Verdict::Over;
        }
        let mut again = false;
        for MissingProbe { probe, because } in mem::take(&mut self.troubles) {
            let Some(place) = self.probes.iter().position(|kind| record::probe(*kind) == probe) else {
                continue;
            };
            let next = if self.struck.insert(self.probes[place]) {
                again = true;
                "the trial is made once more"
            } else {
                self.probes.remove(place);
                "the run goes on without it"
            };
            let text = format!("probe {}: {because}; {next}", probe.word());
            observer.event(&Event::Notice(&text));
        }
        match (again, self.probes.is_empty()) {
            (true, _) => Verdict::Again,
            (false, true) => Verdict::Over,
            (false, false) => Verdict::Kept,
        }
    }

    fn observe(
        &mut self,
        token: Token,
        mut subjects: Vec<Subject>,
        way: Option<WayOrder>,
    ) -> Result<(), RunError> {
        let pids = [std::process::id()].into_iter().chain(self.agents.pids(&self.host)).collect();
        subjects.push(Subject { owner: Owner::Plumb, pids, syscalls: false });
        let probes = self.probes.iter().map(|kind| record::probe(*kind)).collect();
        let way = way.map(|way| WayOrder { devices: self.devices.clone(), ..way });
        let order = Order::Observe(ObserveOrder { token, probes, subjects, way });
        if let Some(Reply::Observing(observing)) = self.ask("watch a trial", order)? {
            self.watching = Some(token);
            self.troubles.extend(observing.missing);
        }
        Ok(())
    }

    /// Its answer, if it has one; only the user's wish to end is an error.
    fn ask(&mut self, what: &'static str, order: Order) -> Result<Option<Reply>, RunError> {
        if self.lost.is_some() {
            return Ok(None);
        }
        match self.agents.ask(&self.host, what, order, PATIENCE) {
            Ok(reply) => Ok(Some(reply)),
            Err(RunError::Interrupted) => Err(RunError::Interrupted),
            Err(RunError::Refused { because, .. }) => {
                self.troubles.extend(all_missing(&self.probes, &because));
                Ok(None)
            }
            Err(error) => {
                self.lost = Some(error.to_string());
                // One that is only slow would leave its probes on, and trials without probes would pay for them.
                self.agents.end(&self.host);
                Ok(None)
            }
        }
    }
}

/// Messages that nobody sends: a probe is tried by looking for them.
fn nowhere() -> WayOrder {
    WayOrder {
        transport: Transport::Udp,
        server: Ipv4Addr::LOCALHOST,
        port: 9,
        message: Bytes(64),
        every: EVERY,
        devices: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
