//! Runs one or several simultaneous trials in steps: place, read devices, check paths, measure.

use samples::{Arm, BlackHole, DeviceState, PathCheck, PathCounters, SkippedResult, Trial, ValidityWarning};
use scenario::{DeviceRef, PlannedResult};

use crate::{
    disturbance,
    error::RunError,
    event::Observer,
    exchange::Exchange,
    lab_handle::Unset,
    measure::{Measurements, TrafficOutcome},
    path_probe::Probe,
    placement::{self, Cpus},
    trial_runner::{TrialOrder, TrialRunner},
    warnings,
};

pub(crate) enum TrialOutcome {
    Trial(Box<Trial>),
    Skipped(SkippedResult),
    Lost(SkippedResult, Option<BlackHole>, Option<PathCounters>),
}

struct TrialInProgress<'a> {
    order: &'a TrialOrder<'a>,
    /// An error is the reason why this machine can never run the trial.
    cpus: Result<Cpus, String>,
    devices: Vec<DeviceState>,
    path_check: PathCheck,
}

impl TrialRunner<'_> {
    pub(crate) fn make(
        &mut self,
        orders: &[TrialOrder<'_>],
        observer: &mut dyn Observer,
    ) -> Result<Vec<TrialOutcome>, RunError> {
        let mut trials = orders.iter().map(|order| self.place(order)).collect::<Result<Vec<_>, _>>()?;
        self.read_devices(&mut trials)?;
        if let Some(skipped) = self.refused_paths(&mut trials)? {
            return Ok(vec![skipped]);
        }
        let exchanges: Vec<Exchange<'_>> = trials.iter().filter_map(TrialInProgress::exchange).collect();
        let mut measured = self.measure(&exchanges, observer)?.into_iter();
        let outcome = |trial: &TrialInProgress<'_>| match &trial.cpus {
            Err(reason) => trial.skip(reason, None),
            Ok(cpus) => match measured.next().expect("one for each exchange") {
                TrafficOutcome::Never(reason, counters) => trial.skip(&reason, counters),
                TrafficOutcome::Measured(it) => {
                    let is_emulated = self.is_emulated(trial.order.path);
                    TrialOutcome::Trial(Box::new(trial.end(cpus, *it, is_emulated)))
                }
            },
        };
        Ok(trials.iter().map(outcome).collect())
    }

    fn place<'a>(&mut self, order: &'a TrialOrder<'a>) -> Result<TrialInProgress<'a>, RunError> {
        let result = order.result;
        let cpus = match self.configure(result) {
            Ok(()) => placement::cpus(&result.placement, &result.load, self.usable_cpus),
            Err(Unset::Never(reason)) => Err(reason),
            Err(Unset::Error(error)) => return Err(error),
        };
        Ok(TrialInProgress { order, cpus, devices: Vec::new(), path_check: PathCheck::default() })
    }

    fn configure(&mut self, result: &PlannedResult) -> Result<(), Unset> {
        if self.set.as_ref() != Some(&result.devices) {
            self.set = None;
            self.lab_handle.configure(self.agents, &result.devices, result.id.as_str())?;
            self.set = Some(result.devices.clone());
        }
        Ok(())
    }

    fn read_devices(&mut self, trials: &mut [TrialInProgress<'_>]) -> Result<(), RunError> {
        let mut ready: Vec<_> = trials.iter_mut().filter(|trial| trial.cpus.is_ok()).collect();
        let paths: Vec<&[DeviceRef]> = ready.iter().map(|trial| &*trial.order.path.devices).collect();
        let states = self.lab_handle.states(self.agents, &paths)?;
        ready.iter_mut().zip(states).for_each(|(trial, states)| trial.devices = states);
        Ok(())
    }

    /// Skips a trial that runs alone if a host refused its packets.
    fn refused_paths(
        &mut self,
        trials: &mut [TrialInProgress<'_>],
    ) -> Result<Option<TrialOutcome>, RunError> {
        let ways: Vec<&[DeviceRef]> = trials.iter().map(|trial| &*trial.order.path.devices).collect();
        let before = self.lab_handle.counters(self.agents, &ways)?;
        let Err(error) = self.check_paths(trials) else { return Ok(None) };
        let ([trial], RunError::Refused { reason, .. }) = (&*trials, &error) else { return Err(error) };
        match self.refusals(&ways, &before)?.into_iter().flatten().next() {
            Some(refusal) => Ok(Some(trial.skip(reason, Some(refusal)))),
            None => Err(error),
        }
    }

    fn check_paths(&mut self, trials: &mut [TrialInProgress<'_>]) -> Result<(), RunError> {
        let has_path = |trial: &&mut TrialInProgress<'_>| trial.cpus.is_ok() && !trial.order.path.is_host();
        let mut probed: Vec<_> = trials.iter_mut().filter(has_path).collect();
        let probes = probed
            .iter()
            .map(|trial| Probe::new(trial.order.path, trial.order.result.family, trial.order.mtu))
            .collect();
        for (trial, result) in probed.iter_mut().zip(self.probe_paths(probes)?) {
            let mtu = (result.carried && result.larger_refused).then_some(trial.order.mtu);
            trial.path_check.mtu = mtu;
            let TrialOrder { path, result: planned, .. } = trial.order;
            if mtu.is_none() || self.sender_mtu(path, planned).is_some_and(|own| own > trial.order.mtu) {
                trial.path_check.black_hole = self.black_hole(path, planned)?;
            }
        }
        Ok(())
    }
}

impl TrialInProgress<'_> {
    fn exchange(&self) -> Option<Exchange<'_>> {
        let TrialOrder { planned, result, path, .. } = *self.order;
        let cpus = self.cpus.as_ref().ok()?;
        let probed = planned.arm == Arm::Probed;
        Some(Exchange { path, result, cpus, probed, is_lossy: self.fatal_hole().is_some() })
    }

    fn fatal_hole(&self) -> Option<&BlackHole> {
        let hole = self.path_check.black_hole.as_ref();
        hole.filter(|hole| hole.affects(&self.order.result.load))
    }

    fn skip(&self, reason: &str, counters: Option<PathCounters>) -> TrialOutcome {
        let (result, hole) = (self.order.result.id.to_string(), self.fatal_hole().cloned());
        let reason = match &hole {
            Some(BlackHole { carried, device, .. }) => {
                let place = device.as_deref().map(|device| format!(" at {device}")).unwrap_or_default();
                format!("packets above {carried} bytes are lost{place}: {reason}")
            }
            None => reason.to_owned(),
        };
        let skipped = SkippedResult { result, reason };
        match (&hole, &counters) {
            (None, None) => TrialOutcome::Skipped(skipped),
            _ => TrialOutcome::Lost(skipped, hole, counters),
        }
    }

    fn end(&self, cpus: &Cpus, measured: Measurements, is_emulated: bool) -> Trial {
        let TrialOrder { planned, result, path, .. } = self.order;
        let Measurements { started, measurement, cpu, observed, counters, stalled, discarded, simultaneous } =
            measured;
        let mut warnings = warnings::warnings(&result.load, &measurement, &cpu);
        warnings.extend(stalled);
        warnings.extend(disturbance::warning(&cpu, cpus));
        if is_emulated {
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
            devices: self.devices.clone(),
            path_check: self.path_check.clone(),
            syscalls: Vec::new(),
            observed,
            counters: (!path.is_host()).then_some(counters),
            instructions: None,
            simultaneous,
            warnings,
            discarded,
        }
    }
}
