//! Resizes the memory of a run's virtual machines.

use std::collections::BTreeMap;

use memory::{Balloon, MemoryError, Resident};
use scenario::{HostName, Vm};
use workload::BalloonMethod;

use crate::{agents::Agents, error::RunError};

/// The balloons by host, created on first use. A monitor accepts only one client.
pub(crate) type Balloons = BTreeMap<HostName, VmBalloon>;

pub(crate) struct VmBalloon {
    pub(crate) method: BalloonMethod,
    pub(crate) balloon: Box<dyn Balloon>,
    pub(crate) resident: Resident,
}

impl VmBalloon {
    pub(crate) fn of(host: &HostName, vm: &Vm, agents: &mut Agents) -> Result<Self, RunError> {
        let missing = |reason: String| failed(host, MemoryError::Guest(reason));
        let method = vm.balloon.ok_or_else(|| missing("it has no `balloon`".to_owned()))?;
        let monitor = agents.take_monitor(host).ok_or_else(|| missing("it has no monitor".to_owned()))?;
        let pid = agents.pids(host).first().copied().unwrap_or_default();
        let balloon = memory::balloon(method, monitor, pid, machine::BALLOON, vm.pluggable());
        let created = balloon.and_then(|balloon| Ok(Self { method, balloon, resident: Resident::of(pid)? }));
        created.map_err(|error| failed(host, error))
    }
}

pub(crate) fn failed(host: &HostName, error: MemoryError) -> RunError {
    match error {
        MemoryError::Interrupted => RunError::Interrupted,
        error => RunError::Memory { host: host.to_string(), source: error },
    }
}
