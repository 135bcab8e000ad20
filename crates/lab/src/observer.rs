//! The observer of a run: an agent on the machine itself, outside the lab's hosts. It records CPU time by
//! owner in every trial and runs probes in some. Its failures are reported once and never end a run.

use std::{collections::BTreeSet, mem, net::IpAddr, thread, time::Duration};

use machine::{Machine, Namespace};
use protocol::{BreakdownOrder, Observation, ObserveOrder, Order, Reply, Subject, Token, WatchedDevice};
use samples::{CpuConsumer, CpuUsage, Environment, MissingProbe, ProbeKind};
use scenario::{HostName, Layer};
use units::Bytes;
use workload::{PingPongSettings, Transport, WorkloadSettings};

use crate::{
    agents::{Agents, token},
    cpu,
    error::RunError,
    event::{Event, Observer},
    exchange::Exchange,
    request::Request,
    stop::Stop,
};

const NAME: &str = "observer";
const PATIENCE: Duration = Duration::from_secs(20);
/// Traces one in this many messages, i.e. hundreds of messages per second at a low cost.
const TRACE_ONE_IN: u32 = 10;

pub(crate) struct Watcher {
    agents: Agents,
    host: HostName,
    probes: Vec<ProbeKind>,
    devices: Vec<WatchedDevice>,
    watching: Option<Token>,
    troubles: Vec<MissingProbe>,
    struck: BTreeSet<ProbeKind>,
    patience: Duration,
    lost: Option<RunError>,
    dropped: Vec<MissingProbe>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Kept,
    Again,
    /// The trial is valid but has no probe results, because no working probe applies to it.
    Over,
}

impl Watcher {
    pub(crate) fn start(
        request: &Request<'_>,
        stop: &Stop,
        devices: Vec<WatchedDevice>,
    ) -> Result<(Self, Vec<MissingProbe>), RunError> {
        let (host, probes) = (HostName::new(NAME), &request.plan.probes);
        let machine = Box::new(Namespace::own(host.clone(), request.agent.clone()));
        let mut watcher = Self::greeted((host, machine), request.tool, stop, probes, devices)?;
        watcher.agents.timeout_factors = request.timeout_factors();
        let missing = watcher.try_probes()?;
        Ok((watcher, missing))
    }

    pub(crate) fn greeted(
        (host, machine): (HostName, Box<dyn Machine>),
        tool: &str,
        stop: &Stop,
        probes: &[ProbeKind],
        devices: Vec<WatchedDevice>,
    ) -> Result<Self, RunError> {
        // A machine that boots slowly also replies slowly.
        let patience = PATIENCE.max(machine.boot().patience * 2);
        let agents = Agents::start(vec![(host.clone(), machine)], tool, stop, &mut |_: &Event<'_>| ())?;
        let (probes, struck) = (probes.to_vec(), BTreeSet::new());
        let (watching, troubles, lost, dropped) = (None, Vec::new(), None, Vec::new());
        Ok(Self { agents, host, probes, devices, watching, troubles, struck, patience, lost, dropped })
    }

    pub(crate) fn start_again(&mut self, probes: &[ProbeKind]) -> Result<bool, RunError> {
        (self.probes, self.lost, self.watching) = (probes.to_vec(), None, None);
        self.troubles.clear();
        self.agents.start_again(&self.host)
    }

    pub(crate) fn try_probes(&mut self) -> Result<Vec<MissingProbe>, RunError> {
        let token = token();
        self.observe(token, Vec::new(), &self.probes.clone(), Some(self.nowhere()))?;
        self.abandon(token);
        let mut missing = mem::take(&mut self.troubles);
        if let Some(reason) = &self.lost {
            missing = all_missing(&self.probes, &reason.to_string());
        }
        self.probes.retain(|kind| !missing.iter().any(|missing| missing.probe == *kind));
        Ok(missing)
    }

    pub(crate) fn loss(&mut self) -> Option<RunError> {
        self.lost.take()
    }

    pub(crate) fn describe(&mut self) -> Result<Environment, RunError> {
        match self.agents.ask(&self.host, "describe its machine", Order::Describe, self.patience)? {
            Reply::Environment(environment) => Ok(environment),
            other => Err(RunError::unexpected(&self.host, &other)),
        }
    }

    pub(crate) fn agents(&mut self) -> &mut Agents {
        &mut self.agents
    }

    pub(crate) fn probes(&self) -> &[ProbeKind] {
        &self.probes
    }

    pub(crate) fn dropped(&self) -> &[MissingProbe] {
        &self.dropped
    }

    pub(crate) fn goes_without(&mut self, missing: &[MissingProbe]) {
        self.dropped.extend_from_slice(missing);
    }

    pub(crate) fn sees(&self, load: &WorkloadSettings) -> bool {
        self.probes.iter().any(|kind| kind.sees(load))
    }

    pub(crate) fn next_trial(&mut self) {
        self.struck.clear();
    }

    /// Starts observing a trial on the server's `port`, with probes if the trial is probed. Reports failures
    /// only in [`Self::judge`].
    pub(crate) fn begin(
        &mut self,
        token: Token,
        exchange: &Exchange<'_>,
        port: u16,
        ends: Vec<Subject>,
    ) -> Result<(), RunError> {
        match exchange.probed {
            true => self.observe(token, ends, &self.probes.clone(), self.latency_breakdown(exchange, port)),
            false => self.observe(token, ends, &[], None),
        }
    }

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

    pub(crate) fn idle_for(&mut self, time: Duration) -> Result<Option<CpuUsage>, RunError> {
        self.observe(token(), Vec::new(), &[], None)?;
        thread::sleep(time);
        Ok(self.end()?.map(|seen| cpu::with_observed(CpuUsage::default(), seen.host)))
    }

    pub(crate) fn give_up(&mut self) {
        if let Some(token) = self.watching {
            self.abandon(token);
        }
    }

    pub(crate) fn abandon(&mut self, token: Token) {
        self.watching = None;
        if self.lost.is_none() {
            // Ignore errors: if the agent is lost, the next order fails too.
            let _ = self.agents.request(&self.host, "end watching", Order::Abandon { token }, self.patience);
        }
    }

    pub(crate) fn judge(&mut self, load: &WorkloadSettings, observer: &mut dyn Observer) -> Verdict {
        if let Some(reason) = &self.lost {
            let text = format!("{reason}; continuing without probes");
            observer.event(&Event::Notice(&text));
            self.dropped.extend(all_missing(&self.probes, &reason.to_string()));
            self.probes.clear();
            return Verdict::Over;
        }
        let mut again = false;
        for MissingProbe { probe, reason } in mem::take(&mut self.troubles) {
            let Some(place) = self.probes.iter().position(|kind| *kind == probe) else {
                continue;
            };
            let next = if self.struck.insert(self.probes[place]) {
                again = true;
                "repeating the trial"
            } else {
                self.probes.remove(place);
                self.dropped.push(MissingProbe { probe, reason: reason.clone() });
                "continuing without it"
            };
            let text = format!("probe {}: {reason}; {next}", probe.word());
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
        latency_breakdown: Option<BreakdownOrder>,
    ) -> Result<(), RunError> {
        let pids = [std::process::id()].into_iter().chain(self.agents.pids(&self.host)).collect();
        subjects.push(Subject::of(CpuConsumer::Plumb, pids, false));
        let latency_breakdown = latency_breakdown.filter(|_| probes.contains(&ProbeKind::PacketWay));
        let order =
            Order::Observe(ObserveOrder { token, probes: probes.to_vec(), subjects, latency_breakdown });
        if let Some(Reply::Observing(observing)) = self.ask("watch a trial", order)? {
            self.watching = Some(token);
            self.troubles.extend(observing.missing);
        }
        Ok(())
    }

    fn latency_breakdown(&self, exchange: &Exchange<'_>, port: u16) -> Option<BreakdownOrder> {
        let ping = PingPongSettings::of(&exchange.result.load)?;
        // The host cannot see inside guests, so it would attribute time in a guest to waking up the other
        // end.
        if exchange.path.layers.contains(&Layer::Virtio) {
            return None;
        }
        ProbeKind::PacketWay.sees(&exchange.result.load).then(|| BreakdownOrder {
            transport: ping.transport,
            server: exchange.server_address(),
            port,
            message: ping.message,
            every: TRACE_ONE_IN,
            devices: self.devices.clone(),
        })
    }

    fn nowhere(&self) -> BreakdownOrder {
        BreakdownOrder {
            transport: Transport::Udp,
            server: IpAddr::from([127, 0, 0, 1]),
            port: 9,
            message: Bytes(64),
            every: TRACE_ONE_IN,
            devices: self.devices.clone(),
        }
    }

    fn ask(&mut self, what: &'static str, order: Order) -> Result<Option<Reply>, RunError> {
        if self.lost.is_some() {
            return Ok(None);
        }
        match self.agents.ask(&self.host, what, order, self.patience) {
            Ok(reply) => Ok(Some(reply)),
            Err(RunError::Interrupted) => Err(RunError::Interrupted),
            Err(RunError::Refused { reason, .. }) => {
                self.troubles.extend(all_missing(&self.probes, &reason));
                Ok(None)
            }
            Err(error) => {
                self.lost = Some(error);
                // End the agent: a slow agent would leave its probes loaded and slow down other trials.
                self.agents.end(&self.host);
                Ok(None)
            }
        }
    }
}

pub(crate) fn all_missing(probes: &[ProbeKind], reason: &str) -> Vec<MissingProbe> {
    let missing = |kind: &_| MissingProbe { probe: *kind, reason: reason.to_owned() };
    probes.iter().map(missing).collect()
}

#[cfg(test)]
mod tests;
