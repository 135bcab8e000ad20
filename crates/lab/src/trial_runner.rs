//! Runs trials in an existing lab, with its agents, its observer and the current state of its devices.

use std::{collections::BTreeMap, thread, time::Duration};

use samples::{BlackHole, Disturber, ValidityWarning};
use scenario::{DeviceRef, DeviceSettings, HostName, Path, PlannedResult, PlannedTrial, ResultId};

use crate::{
    agents::Agents,
    disturbance,
    error::RunError,
    event::{Event, Observer},
    lab_handle::LabHandle,
    left_out,
    observer::Watcher,
    placement::Cpus,
    vm_balloon::Balloons,
};

const RETRY_DELAY: Duration = Duration::from_millis(500);

#[derive(Clone, Copy)]
pub(crate) struct TrialOrder<'a> {
    pub(crate) planned: &'a PlannedTrial,
    pub(crate) result: &'a PlannedResult,
    pub(crate) path: &'a Path,
    pub(crate) mtu: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Emulation {
    Nothing,
    Guests,
    Everything,
}

pub(crate) struct TrialRunner<'a> {
    pub(crate) lab_handle: LabHandle<'a>,
    pub(crate) agents: &'a mut Agents,
    pub(crate) watcher: Option<Watcher>,
    pub(crate) usable_cpus: &'a [u32],
    pub(crate) emulated: Emulation,
    pub(crate) balloons: Balloons,
    pub(crate) set: Option<BTreeMap<DeviceRef, DeviceSettings>>,
    pub(crate) black_holes: BTreeMap<ResultId, Option<BlackHole>>,
}

impl TrialRunner<'_> {
    pub(crate) fn sees(&self, result: &PlannedResult, path: &Path) -> bool {
        let watcher = self.watcher.as_ref().filter(|_| self.lab_handle.is_here(path));
        watcher.is_some_and(|watcher| watcher.sees(&result.load))
    }

    pub(crate) fn is_left_out(&self, path: &Path) -> bool {
        self.agents.left_out.concerns(path, self.lab_handle.lab)
    }

    /// If an end of the path refuses a trial, the path is first retried once.
    ///
    /// # Errors
    /// Returns the error if it concerns neither a lost host nor a broken path, or if the run has few hosts.
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

    pub(crate) fn disturbers(&mut self, time: Duration) -> Result<Option<Vec<Disturber>>, RunError> {
        let usage = self.watcher.as_mut().map_or(Ok(None), |watcher| watcher.idle_for(time))?;
        Ok(usage.and_then(|usage| disturbance::warning(&usage, &Cpus::FREE)).and_then(|found| match found {
            ValidityWarning::Disturbed { processes, .. } => Some(processes),
            _ => None,
        }))
    }

    pub(crate) fn is_emulated(&self, path: &Path) -> bool {
        match self.emulated {
            Emulation::Nothing => false,
            Emulation::Guests => self.lab_handle.has_vm_at(path),
            Emulation::Everything => true,
        }
    }
}
