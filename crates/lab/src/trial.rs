//! A trial, or several at the same time: configure, check, measure, collect. How traffic is measured is in measure.rs.

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use protocol::{HostPolicy, MtuProbe, MtuResult, Order, Reply, Token};
use samples::{Arm, DeviceState, Disturber, PathCheck, SkippedCell, Trial, UnixMillis, ValidityWarning};
use scenario::{Cell, DeviceRef, DeviceSettings, HostName, Path, PlannedTrial};
use units::Nanos;
use workload::{PingPongSettings, Schedule, WorkloadSettings};

use crate::{
    agents::Agents,
    balloon::Balloons,
    disturbance,
    error::RunError,
    event::{Event, Observer},
    exchange::{Exchange, SHORT, token, unexpected},
    lab_handle::{LabHandle, Unset},
    left_out,
    measure::{Measurements, TrafficOutcome},
    observer::Watcher,
    placement::{self, Cpus},
    warnings,
};

/// Between two attempts of a path whose ends refuse.
const AGAIN: Duration = Duration::from_millis(500);
const PROBE: &str = "probe the MTU";
/// A packet that every IPv4 path must carry (RFC 791).
const SMALLEST_MTU: u32 = 576;

/// What comes of a planned trial.
pub(crate) enum TrialOutcome {
    /// Numbers.
    Trial(Box<Trial>),
    /// Nothing, now or ever here.
    Skipped(SkippedCell),
}

/// A planned trial with what it is of.
#[derive(Clone, Copy)]
pub(crate) struct TrialOrder<'a> {
    pub(crate) planned: &'a PlannedTrial,
    pub(crate) cell: &'a Cell,
    pub(crate) path: &'a Path,
    /// What the path must carry unfragmented.
    pub(crate) mtu: u32,
}

/// What is known of a trial before its traffic.
struct Prepared {
    cpus: Cpus,
    devices: Vec<DeviceState>,
    path_check: PathCheck,
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

    /// Whether the run goes on without it.
    pub(crate) fn is_left_out(&self, path: &Path) -> bool {
        self.agents.left_out.concerns(path, self.ground.lab)
    }

    /// Goes on without what the error is of: a host that is lost, or one of these paths, which its ends refuse twice or which carries
    /// nothing.
    ///
    /// # Errors
    /// That one, where it is of neither, or where the run is of few hosts.
    pub(crate) fn leave_out(
        &mut self,
        error: RunError,
        paths: &[&Path],
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        let many = !left_out::dispensable(self.ground.lab).is_empty();
        let path = match &error {
            RunError::Unreachable { path, .. } => paths.iter().find(|it| it.name.as_str() == path),
            RunError::Refused { host, .. } => {
                let seat = |end: &HostName| self.ground.lab.seat(end).unwrap_or(end).as_str() == host;
                let is_end = |end: &scenario::PathEnd| end.host.as_str() == host || seat(&end.host);
                paths.iter().find(|path| is_end(&path.from) || is_end(&path.to))
            }
            _ => None,
        };
        let Some(path) = path.filter(|_| many) else { return self.agents.leave_out(error, observer) };
        let again =
            matches!(error, RunError::Refused { .. }) && self.agents.left_out.may_try_again(&path.name);
        let what = if again { "it is tried once more" } else { "the run goes on without that path" };
        observer.event(&Event::Notice(&format!("{}: {error}: {what}", path.name)));
        if again {
            // What the agents still have of the last attempt ends meanwhile.
            thread::sleep(AGAIN);
        } else {
            self.agents.left_out.path(&path.name, error.to_string());
        }
        Ok(())
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

    /// Makes these trials at the same time; what comes of each, in their order.
    pub(crate) fn make(
        &mut self,
        orders: &[TrialOrder<'_>],
        observer: &mut dyn Observer,
    ) -> Result<Vec<TrialOutcome>, RunError> {
        let prepared = self.prepare(orders)?;
        let ready: Vec<(&TrialOrder<'_>, &Prepared)> =
            orders.iter().zip(&prepared).filter_map(|(order, it)| Some((order, it.as_ref().ok()?))).collect();
        let exchanges: Vec<Exchange<'_>> = ready
            .iter()
            .map(|(TrialOrder { planned, cell, path, .. }, Prepared { cpus, .. })| Exchange {
                path,
                cell,
                cpus,
                probed: planned.arm == Arm::Probed,
            })
            .collect();
        let mut measured = self.measure(&exchanges, observer)?.into_iter();
        let skip = |order: &TrialOrder<'_>, because: &str| {
            TrialOutcome::Skipped(SkippedCell {
                cell: order.cell.id.to_string(),
                because: because.to_owned(),
            })
        };
        let outcome = |(order, prepared): (&TrialOrder<'_>, &Result<Prepared, String>)| match prepared {
            Err(because) => skip(order, because),
            Ok(prepared) => match measured.next().expect("one for each exchange") {
                TrafficOutcome::Never(because) => skip(order, &because),
                TrafficOutcome::Measured(it) => {
                    TrialOutcome::Trial(Box::new(self.trial(order, prepared, *it)))
                }
            },
        };
        Ok(orders.iter().zip(&prepared).map(outcome).collect())
    }

    /// Sets and reads their devices, and checks their paths; why one cannot be made here, where it never can.
    fn prepare(&mut self, orders: &[TrialOrder<'_>]) -> Result<Vec<Result<Prepared, String>>, RunError> {
        let placed = orders.iter().map(|order| self.place(order.cell)).collect::<Result<Vec<_>, _>>()?;
        let ready =
            || orders.iter().zip(&placed).filter(|(_, placed)| placed.is_ok()).map(|(order, _)| order);
        let ways: Vec<&[DeviceRef]> = ready().map(|order| &*order.path.devices).collect();
        let mut devices = self.ground.states(self.agents, &ways)?.into_iter();
        let wires: Vec<(&Path, u32)> =
            ready().filter(|order| !order.path.is_host()).map(|order| (order.path, order.mtu)).collect();
        let mut carried = self.carry(&wires)?.into_iter();
        let prepared = |(order, placed): (&TrialOrder<'_>, Result<Cpus, String>)| {
            placed.map(|cpus| Prepared {
                cpus,
                devices: devices.next().expect("one for each that is ready"),
                path_check: match order.path.is_host() {
                    true => PathCheck::default(),
                    false => path_check(carried.next().expect("one for each path"), order.mtu),
                },
            })
        };
        Ok(orders.iter().zip(placed).map(prepared).collect())
    }

    /// Sets the devices as the cell wants them; its CPUs.
    fn place(&mut self, cell: &Cell) -> Result<Result<Cpus, String>, RunError> {
        match self.configure(cell) {
            Ok(()) => Ok(placement::cpus(&cell.placement, &cell.load, self.usable_cpus)),
            Err(Unset::Never(because)) => Ok(Err(because)),
            Err(Unset::Error(error)) => Err(error),
        }
    }

    fn trial(&self, order: &TrialOrder<'_>, prepared: &Prepared, measured: Measurements) -> Trial {
        let TrialOrder { planned, cell, path, .. } = order;
        let Measurements { started, measurement, cpu, observed, counters, stalled, discarded, beside } =
            measured;
        let mut doubts = warnings::warnings(&cell.load, &measurement, &cpu);
        doubts.extend(stalled);
        doubts.extend(disturbance::of(&cpu, &prepared.cpus));
        if self.is_emulated(path) {
            doubts.push(ValidityWarning::Emulated);
        }
        Trial {
            index: planned.index,
            block: planned.block,
            cell: cell.id.to_string(),
            arm: planned.arm,
            started,
            measurement,
            cpu,
            devices: prepared.devices.clone(),
            path_check: prepared.path_check,
            syscalls: Vec::new(),
            observed,
            // A host alone has no device on its way.
            counters: (!path.is_host()).then_some(counters),
            beside,
            doubts,
            discarded,
        }
    }

    /// Whether the path carries anything at all, before the first trial is made on it.
    pub(crate) fn check_reachable(&mut self, path: &Path) -> Result<(), RunError> {
        let because = match self.carry(&[(path, SMALLEST_MTU)]) {
            Ok(results) if results.iter().all(|result| result.carried) => return Ok(()),
            Ok(_) => String::new(),
            Err(RunError::Refused { what: PROBE, because, unsupported: false, .. }) => {
                format!(" ({because})")
            }
            Err(error) => return Err(error),
        };
        Err(RunError::Unreachable {
            path: path.name.to_string(),
            from: format!("{} ({})", path.from.device, path.from.address),
            to: format!("{} ({})", path.to.device, path.to.address),
            because,
            advice: match self.ground.lab.seat(&path.to.host) {
                Some(seat) if self.ground.lab.is_made_on(&path.to.device, seat) => {
                    "does a firewall of either host, or of what is between them, let the tunnel's UDP port pass (`port` of \
                     the overlay, 4789 if it has none)?"
                }
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

    /// Whether each of these carries a packet of so many bytes unfragmented, and one of one more; all at once.
    fn carry(&mut self, wires: &[(&Path, u32)]) -> Result<Vec<MtuResult>, RunError> {
        let begun: Vec<(Token, &Path, u32)> =
            wires.iter().map(|(path, mtu)| (token(), *path, *mtu)).collect();
        let results = match self.probe_mtu(&begun) {
            Ok(results) => results,
            Err(error) => {
                begun.iter().for_each(|(token, path, _)| self.give_up(*token, path));
                return Err(error);
            }
        };
        let mut closing = Vec::new();
        for (token, path, _) in begun {
            let order = Order::Abandon { token };
            closing.push(self.agents.request(&path.to.host, "close the MTU probe's server", order, SHORT)?);
        }
        self.agents.wait(&closing, |_| ())?;
        Ok(results)
    }

    fn probe_mtu(&mut self, begun: &[(Token, &Path, u32)]) -> Result<Vec<MtuResult>, RunError> {
        // No closed loop: the policy of the server's host may want a rate.
        let schedule = Schedule::Open { period: Nanos::from_secs(1) };
        let echo =
            WorkloadSettings::PingPong(PingPongSettings { schedule, ..PingPongSettings::new(MTU_PROBE) });
        let mut servers = Vec::new();
        for (token, path, _) in begun {
            servers.push((&path.to.host, self.server_order(path, *token, echo.clone(), None)));
        }
        let ports = self.serve(servers)?;
        let mut requests = Vec::new();
        for ((token, path, mtu), port) in begun.iter().zip(ports) {
            let (bind, server) = (path.from.address, path.to.address);
            let order = Order::ProbeMtu(MtuProbe { token: *token, bind, server, port, mtu: *mtu });
            requests.push(self.agents.request(&path.from.host, PROBE, order, SHORT)?);
        }
        let replies = self.agents.wait(&requests, |_| ())?;
        let result = |((_, path, _), reply): (&(Token, &Path, u32), Reply)| match reply {
            Reply::Mtu(result) => Ok(result),
            other => Err(unexpected(&path.from.host, &other)),
        };
        begun.iter().zip(replies).map(result).collect()
    }
}

fn path_check(result: MtuResult, mtu: u32) -> PathCheck {
    PathCheck { mtu: (result.carried && result.larger_refused).then_some(mtu) }
}

/// How long the server of an MTU probe stands at most: no policy's longest trial is shorter.
const MTU_PROBE: Nanos = HostPolicy::LEAST_DURATION;

/// The time of day.
pub(crate) fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
