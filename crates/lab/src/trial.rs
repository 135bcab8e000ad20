//! Runs a trial, or several at the same time: configure, check, measure, collect. Traffic is in measure.rs.

use std::{thread, time::Duration};

use machine::HostPolicy;
use protocol::{MtuProbe, MtuResult, Order, Reply, Token};
use samples::{Arm, DeviceState, Disturber, PathCheck, SkippedResult, Trial, ValidityWarning};
use scenario::{DeviceRef, HostName, Path, PlannedResult};
use units::Nanos;
use workload::{PingPongSettings, Schedule, WorkloadSettings};

use crate::{
    agents::{SHORT, token},
    disturbance,
    error::RunError,
    event::{Event, Observer},
    exchange::Exchange,
    lab_handle::Unset,
    left_out,
    measure::{Measurements, TrafficOutcome},
    placement::{self, Cpus},
    trial_runner::{Emulation, TrialOrder, TrialRunner},
    warnings,
};

const RETRY_DELAY: Duration = Duration::from_millis(500);
const PROBE: &str = "probe the MTU";
/// Every IPv4 path must support packets of this size (RFC 791).
const SMALLEST_MTU: u32 = 576;

pub(crate) enum TrialOutcome {
    Trial(Box<Trial>),
    Skipped(SkippedResult),
}

struct Prepared {
    cpus: Cpus,
    devices: Vec<DeviceState>,
    path_check: PathCheck,
}

impl TrialRunner<'_> {
    pub(crate) fn sees(&self, result: &PlannedResult, path: &Path) -> bool {
        let watcher = self.watcher.as_ref().filter(|_| self.lab_handle.is_here(path));
        watcher.is_some_and(|watcher| watcher.sees(&result.load))
    }

    pub(crate) fn is_left_out(&self, path: &Path) -> bool {
        self.agents.left_out.concerns(path, self.lab_handle.lab)
    }

    /// Continues without the lost host or broken path that caused the error. If the ends of a path refuse a trial, the trial
    /// gets a second attempt.
    ///
    /// # Errors
    ///
    /// Returns the error if it concerns neither, or if the run has few hosts.
    pub(crate) fn leave_out(
        &mut self,
        error: RunError,
        paths: &[&Path],
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        let many = !left_out::dispensable(self.lab_handle.lab).is_empty();
        let path = match &error {
            RunError::Unreachable { path, .. } => paths.iter().find(|it| it.name.as_str() == path),
            RunError::Refused { host, .. } => {
                let seat = |end: &HostName| self.lab_handle.lab.seat(end).unwrap_or(end).as_str() == host;
                let is_end = |end: &scenario::PathEnd| end.host.as_str() == host || seat(&end.host);
                paths.iter().find(|path| is_end(&path.from) || is_end(&path.to))
            }
            _ => None,
        };
        let Some(path) = path.filter(|_| many) else { return self.agents.leave_out(error, observer) };
        let again =
            matches!(error, RunError::Refused { .. }) && self.agents.left_out.may_try_again(&path.name);
        let what = if again { "retrying the path" } else { "continuing without this path" };
        observer.event(&Event::Notice(&format!("{}: {error}: {what}", path.name)));
        if again {
            thread::sleep(RETRY_DELAY);
        } else {
            self.agents.left_out.path(&path.name, error.to_string());
        }
        Ok(())
    }

    /// Returns the processes that used enough CPU time during `time` to disturb a trial.
    pub(crate) fn disturbers(&mut self, time: Duration) -> Result<Option<Vec<Disturber>>, RunError> {
        let usage = self.watcher.as_mut().map_or(Ok(None), |watcher| watcher.idle_for(time))?;
        Ok(usage.and_then(|usage| disturbance::warning(&usage, &Cpus::FREE)).and_then(|found| match found {
            ValidityWarning::Disturbed { processes, .. } => Some(processes),
            _ => None,
        }))
    }

    fn is_emulated(&self, path: &Path) -> bool {
        match self.emulated {
            Emulation::Nothing => false,
            Emulation::Guests => self.lab_handle.has_vm_at(path),
            Emulation::Everything => true,
        }
    }

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
            .map(|(TrialOrder { planned, result, path, .. }, Prepared { cpus, .. })| Exchange {
                path,
                result,
                cpus,
                probed: planned.arm == Arm::Probed,
            })
            .collect();
        let mut measured = self.measure(&exchanges, observer)?.into_iter();
        let skip = |order: &TrialOrder<'_>, reason: &str| {
            TrialOutcome::Skipped(SkippedResult {
                result: order.result.id.to_string(),
                reason: reason.to_owned(),
            })
        };
        let outcome = |(order, prepared): (&TrialOrder<'_>, &Result<Prepared, String>)| match prepared {
            Err(reason) => skip(order, reason),
            Ok(prepared) => match measured.next().expect("one for each exchange") {
                TrafficOutcome::Never(reason) => skip(order, &reason),
                TrafficOutcome::Measured(it) => {
                    TrialOutcome::Trial(Box::new(self.trial(order, prepared, *it)))
                }
            },
        };
        Ok(orders.iter().zip(&prepared).map(outcome).collect())
    }

    /// Configures devices and checks paths. The inner error is the reason why this machine can never run the
    /// trial.
    fn prepare(&mut self, orders: &[TrialOrder<'_>]) -> Result<Vec<Result<Prepared, String>>, RunError> {
        let placed = orders.iter().map(|order| self.place(order.result)).collect::<Result<Vec<_>, _>>()?;
        let ready =
            || orders.iter().zip(&placed).filter(|(_, placed)| placed.is_ok()).map(|(order, _)| order);
        let ways: Vec<&[DeviceRef]> = ready().map(|order| &*order.path.devices).collect();
        let mut devices = self.lab_handle.states(self.agents, &ways)?.into_iter();
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

    fn place(&mut self, result: &PlannedResult) -> Result<Result<Cpus, String>, RunError> {
        match self.configure(result) {
            Ok(()) => Ok(placement::cpus(&result.placement, &result.load, self.usable_cpus)),
            Err(Unset::Never(reason)) => Ok(Err(reason)),
            Err(Unset::Error(error)) => Err(error),
        }
    }

    fn trial(&self, order: &TrialOrder<'_>, prepared: &Prepared, measured: Measurements) -> Trial {
        let TrialOrder { planned, result, path, .. } = order;
        let Measurements { started, measurement, cpu, observed, counters, stalled, discarded, simultaneous } =
            measured;
        let mut warnings = warnings::warnings(&result.load, &measurement, &cpu);
        warnings.extend(stalled);
        warnings.extend(disturbance::warning(&cpu, &prepared.cpus));
        if self.is_emulated(path) {
            warnings.push(ValidityWarning::Emulated);
        }
        Trial {
            index: planned.index,
            block: planned.block,
            result: result.id.to_string(),
            arm: planned.arm,
            started,
            measurement,
            cpu,
            devices: prepared.devices.clone(),
            path_check: prepared.path_check,
            syscalls: Vec::new(),
            observed,
            counters: (!path.is_host()).then_some(counters),
            simultaneous,
            warnings,
            discarded,
        }
    }

    pub(crate) fn check_reachable(&mut self, path: &Path) -> Result<(), RunError> {
        let reason = match self.carry(&[(path, SMALLEST_MTU)]) {
            Ok(results) if results.iter().all(|result| result.carried) => return Ok(()),
            Ok(_) => String::new(),
            Err(RunError::Refused { what: PROBE, reason, unsupported: false, .. }) => {
                format!(" ({reason})")
            }
            Err(error) => return Err(error),
        };
        Err(RunError::Unreachable {
            path: path.name.to_string(),
            from: format!("{} ({})", path.from.device, path.from.address),
            to: format!("{} ({})", path.to.device, path.to.address),
            reason,
            advice: match self.lab_handle.lab.seat(&path.to.host) {
                Some(seat) if self.lab_handle.lab.is_made_on(&path.to.device, seat) => {
                    "check that no firewall on or between the hosts blocks the tunnel's UDP port (`port` of \
                     the overlay, default 4789)"
                }
                Some(_) => {
                    "check that the other host can reach this address and that no firewall blocks its port (`port` of \
                     the host sets one)"
                }
                None => "inspect the lab with `plumb lab up` and `plumb lab shell`",
            },
        })
    }

    fn configure(&mut self, result: &PlannedResult) -> Result<(), Unset> {
        if self.set.as_ref() != Some(&result.devices) {
            self.set = None;
            self.lab_handle.configure(self.agents, &result.devices, result.id.as_str())?;
            self.set = Some(result.devices.clone());
        }
        Ok(())
    }

    /// Checks for all paths at once whether packets of this size pass without fragmentation, and whether
    /// packets with one more byte do.
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
        // A closed loop could exceed a rate limit in the policy of the server's host.
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
            other => Err(RunError::unexpected(&path.from.host, &other)),
        };
        begun.iter().zip(replies).map(result).collect()
    }
}

fn path_check(result: MtuResult, mtu: u32) -> PathCheck {
    PathCheck { mtu: (result.carried && result.larger_refused).then_some(mtu) }
}

/// The maximum time that the server for MTU probes may run. No policy limits trials to less than this.
const MTU_PROBE: Nanos = HostPolicy::LEAST_DURATION;
