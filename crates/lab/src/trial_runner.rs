//! Runs trials in an existing lab, using its agents, its observer and the current state of its devices.

use std::collections::BTreeMap;

use scenario::{DeviceRef, DeviceSettings, Path, PlannedResult, PlannedTrial};

use crate::{agents::Agents, lab_handle::LabHandle, observer::Watcher, vm_balloon::Balloons};

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
}
