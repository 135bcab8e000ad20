//! One trial: configure, check, measure, collect.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use protocol::{MtuProbe, Order, Reply};
use samples::{
    Arm, CpuUsage, DiscardedAttempt, Disturber, PathCheck, PathCounters, ProbeResults, SkippedCell, Trial,
    UnixMillis, ValidityWarning,
};
use scenario::{Cell, DeviceRef, DeviceSettings, Path, PlannedTrial};
use units::Nanos;
use workload::{Measurement, PingPongSettings, WorkloadSettings};

use crate::{
    agents::Agents,
    balloon::Balloons,
    counters, cpu, disturbance,
    error::RunError,
    event::{Event, Observer},
    exchange::{Exchange, Reports, SHORT, token, unexpected},
    lab_handle::{LabHandle, Unset},
    observer::{Verdict, Watcher},
    placement::{self, Cpus},
    warnings,
};

/// A trial that says nothing of its cell is made again; after so many it is kept with its doubts.
pub(crate) const ATTEMPTS: usize = 3;
/// A packet that every IPv4 path must carry (RFC 791).
const SMALLEST_MTU: u32 = 576;

/// What comes of a planned trial.
pub(crate) enum TrialOutcome {
    /// Numbers.
    Trial(Box<Trial>),
    /// Nothing, now or ever here.
    Skipped(SkippedCell),
}

/// What came of the traffic.
enum TrafficOutcome {
    Measured(Box<Measurements>),
    /// This machine never can, because.
    Never(String),
}

struct Measurements {
    started: UnixMillis,
    measurement: Measurement,
    cpu: CpuUsage,
    observed: Option<ProbeResults>,
    counters: PathCounters,
    stalled: Option<ValidityWarning>,
    discarded: Vec<DiscardedAttempt>,
}

/// What of a run's machines is emulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Emulation {
    Nothing,
    /// Its virtual machines.
    Guests,
    /// The machine that all of it is on.
    Everything,
}

/// The standing lab that trials are made in.
pub(crate) struct TrialRunner<'a> {
    pub(crate) ground: LabHandle<'a>,
    pub(crate) agents: &'a mut Agents,
    /// Who watches probed trials, in a run that has any.
    pub(crate) watcher: Option<Watcher>,
    pub(crate) usable_cpus: &'a [u32],
    pub(crate) emulated: Emulation,
    /// Of the machines whose memory was moved so far.
    pub(crate) balloons: Balloons,
    /// The settings that the devices have now.
    pub(crate) set: Option<BTreeMap<DeviceRef, DeviceSettings>>,
}

impl TrialRunner<'_> {
    /// Whether a trial of `cell` on `path` can be watched.
    pub(crate) fn sees(&self, cell: &Cell, path: &Path) -> bool {
        let watcher = self.watcher.as_ref().filter(|_| self.ground.is_here(path));
        watcher.is_some_and(|watcher| watcher.sees(&cell.load))
    }

    /// Who else has the CPUs in so long, if anybody has enough to disturb.
    pub(crate) fn disturbers(&mut self, time: Duration) -> Result<Option<Vec<Disturber>>, RunError> {
        let usage = self.watcher.as_mut().map_or(Ok(None), |watcher| watcher.idle_for(time))?;
        Ok(usage.and_then(|usage| disturbance::of(&usage, &Cpus::FREE)).and_then(|found| match found {
            ValidityWarning::Disturbed { by, .. } => Some(by),
            _ => None,
        }))
    }

    fn is_emulated(&self, path: &Path) -> bool {
        match self.emulated {
            Emulation::Nothing => false,
            Emulation::Guests => self.ground.has_vm_at(path),
            Emulation::Everything => true,
        }
    }

    /// Makes one trial of `cell`.
    pub(crate) fn make(
        &mut self,
        planned: &PlannedTrial,
        cell: &Cell,
        path: &Path,
        mtu: u32,
        observer: &mut dyn Observer,
    ) -> Result<TrialOutcome, RunError> {
        let skip =
            |because: String| Ok(TrialOutcome::Skipped(SkippedCell { cell: cell.id.to_string(), because }));
        match self.configure(cell) {
            Ok(()) => {}
            Err(Unset::Never(because)) => return skip(because),
            Err(Unset::Error(error)) => return Err(error),
        }
        let cpus = match placement::cpus(&cell.placement, &cell.load, self.usable_cpus) {
            Ok(cpus) => cpus,
            Err(because) => return skip(because),
        };
        let probed = planned.arm == Arm::Probed;
        let exchange = Exchange { path, cell, cpus: &cpus, probed };
        let devices = self.ground.states(self.agents, &path.devices)?;
        let path_check = if path.is_host() { PathCheck::default() } else { self.check_mtu(path, mtu)? };
        let measured = match self.measure(&exchange, observer)? {
            TrafficOutcome::Measured(measured) => *measured,
            TrafficOutcome::Never(because) => return skip(because),
        };
        let Measurements { started, measurement, cpu, observed, counters, stalled, discarded } = measured;
        let mut doubts = warnings::warnings(&cell.load, &measurement, &cpu);
        doubts.extend(stalled);
        doubts.extend(disturbance::of(&cpu, &cpus));
        if self.is_emulated(path) {
            doubts.push(ValidityWarning::Emulated);
        }
        Ok(TrialOutcome::Trial(Box::new(Trial {
            index: planned.index,
            block: planned.block,
            cell: cell.id.to_string(),
            arm: planned.arm,
            started,
            measurement,
            cpu,
            devices,
            path_check,
            syscalls: Vec::new(),
            observed,
            // A host alone has no device on its way.
            counters: (!path.is_host()).then_some(counters),
            doubts,
            discarded,
        })))
    }

    /// Measures, once more where a process did not run or a probe failed.
    fn measure(
        &mut self,
        exchange: &Exchange<'_>,
        observer: &mut dyn Observer,
    ) -> Result<TrafficOutcome, RunError> {
        let Exchange { path, cell, .. } = *exchange;
        self.watcher.iter_mut().for_each(Watcher::next_trial);
        let mut discarded = Vec::new();
        loop {
            let started = now();
            let before = self.ground.counters(self.agents, &path.devices)?;
            let Reports { client, server, seen } = match self.exchange(exchange, observer) {
                Ok(reports) => reports,
                Err(RunError::Refused { because, unsupported: true, .. }) => {
                    return Ok(TrafficOutcome::Never(because));
                }
                Err(error) => return Err(error),
            };
            let lab = self.ground.lab;
            let guests = [&path.from, &path.to].map(|end| lab.vm(&end.host).is_some());
            let apart = [&path.from, &path.to].map(|end| lab.has_own_kernel(&end.host));
            let ends = [Some(&client), server.as_ref()].into_iter().zip(apart);
            let softnet = ends.filter(|(_, is_apart)| !is_apart).find_map(|(end, _)| end?.softnet);
            let after = self.ground.counters(self.agents, &path.devices)?;
            let counters = counters::between(&before, &after, softnet);
            let verdict = self.verdict(exchange, observer);
            if verdict == Verdict::Again {
                continue;
            }
            let (probed, host) = seen.map_or((None, None), |seen| (Some(seen.observed), seen.host));
            let observed = self.watcher_of(exchange).map(|watcher| ProbeResults {
                lost: watcher.gone().to_vec(),
                ..probed.filter(|_| verdict == Verdict::Kept).unwrap_or_default()
            });
            let cpu = cpu::beside(cpu::together(&client, server.as_ref(), apart), host);
            let stalled = warnings::stalled(&cell.load, [Some(&client), server.as_ref()], guests);
            let together = match server {
                Some(server) => client.measured.together(server.measured),
                None => Ok(client.measured.alone()),
            };
            let measurement = together.map_err(|because| unreported(path, because))?;
            let void = stalled.clone().or_else(|| warnings::void(&cell.load, &measurement));
            let Some(because) = void.filter(|_| verdict != Verdict::Over && discarded.len() + 1 < ATTEMPTS)
            else {
                let measured =
                    Measurements { started, measurement, cpu, observed, counters, stalled, discarded };
                return Ok(TrafficOutcome::Measured(Box::new(measured)));
            };
            discarded.push(DiscardedAttempt { started, because });
            let again = format!("{}: a process did not run for a part of the trial; once more", cell.id);
            observer.event(&Event::Notice(&again));
        }
    }

    fn verdict(&mut self, exchange: &Exchange<'_>, observer: &mut dyn Observer) -> Verdict {
        self.watcher_of(exchange)
            .map_or(Verdict::Kept, |watcher| watcher.judge(&exchange.cell.load, observer))
    }

    /// Whether the path carries anything at all, before the first trial is made on it.
    pub(crate) fn check_reachable(&mut self, path: &Path) -> Result<(), RunError> {
        if self.carries(path, SMALLEST_MTU)?.carried {
            return Ok(());
        }
        Err(RunError::Unreachable {
            path: path.name.to_string(),
            from: format!("{} ({})", path.from.device, path.from.address),
            to: format!("{} ({})", path.to.device, path.to.address),
            advice: match self.ground.lab.existing(&path.to.host) {
                Some(_) => {
                    "is that the address that it has towards the other, and does a firewall let its port pass (`port` of \
                     the host names one)?"
                }
                None => "look at it with `plumb lab up` and `plumb lab shell`",
            },
        })
    }

    /// Sets the devices as the cell wants them.
    fn configure(&mut self, cell: &Cell) -> Result<(), Unset> {
        if self.set.as_ref() != Some(&cell.devices) {
            self.set = None;
            self.ground.configure(self.agents, &cell.devices, cell.id.as_str())?;
            self.set = Some(cell.devices.clone());
        }
        Ok(())
    }

    /// Whether an unfragmented packet of `mtu` bytes goes end to end and one byte more does not.
    fn check_mtu(&mut self, path: &Path, mtu: u32) -> Result<PathCheck, RunError> {
        let result = self.carries(path, mtu)?;
        Ok(PathCheck { mtu: (result.carried && result.larger_refused).then_some(mtu) })
    }

    fn carries(&mut self, path: &Path, mtu: u32) -> Result<protocol::MtuResult, RunError> {
        let token = token();
        let echo = WorkloadSettings::PingPong(PingPongSettings::new(Nanos::from_secs(2)));
        let port = self.serve(path, token, echo, None)?;
        let probe = MtuProbe { token, bind: path.from.address, server: path.to.address, port, mtu };
        let reply = self.agents.ask(&path.from.host, "probe the MTU", Order::ProbeMtu(probe), SHORT)?;
        self.agents.ask(&path.to.host, "close the MTU probe's server", Order::Abandon { token }, SHORT)?;
        match reply {
            Reply::Mtu(result) => Ok(result),
            other => Err(unexpected(&path.from.host, &other)),
        }
    }
}

fn unreported(path: &Path, because: String) -> RunError {
    RunError::Refused {
        host: path.to.host.to_string(),
        what: "report the trial",
        because,
        unsupported: false,
    }
}

/// The time of day.
pub(crate) fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
