//! The lab as it stands, asked as one: what this machine's kernel made of it, and what the kernels of guests made, which
//! only their agents can reach. Must not know what a trial is.

use std::{collections::BTreeMap, time::Duration};

use protocol::{DevicesRead, Order, Reply};
use samples::{DeviceState, PathCounters};
use scenario::{DeviceRef, DeviceSettings, HostName, Lab, Path, of_host};
use topology::{ConfigureError, Topology};

use crate::{agents::Agents, error::RunError, exchange::unexpected};

/// For settings and readings of a guest's devices, on a machine with other work.
const PATIENCE: Duration = Duration::from_secs(10);

/// A lab that stands.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    /// As meant.
    pub(crate) lab: &'a Lab,
    /// What this machine's kernel made of it.
    pub(crate) topology: &'a Topology,
}

/// Why settings were not made.
pub(crate) enum Unset {
    /// A kernel or a device cannot.
    Never(String),
    /// Anything else.
    Error(RunError),
}

impl From<RunError> for Unset {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Refused { because, unsupported: true, .. } => Self::Never(because),
            error => Self::Error(error),
        }
    }
}

impl Ground<'_> {
    /// Gives the devices of every guest that has an agent what the lab says of them.
    pub(crate) fn dress_guests(&self, agents: &mut Agents) -> Result<(), RunError> {
        let guests: Vec<HostName> = self.guests(agents);
        for host in guests {
            let order = Order::Dress { lab: Box::new(self.lab.inside(&host)), host: host.clone() };
            agents.ask(&host, "dress its devices", order, PATIENCE)?;
        }
        Ok(())
    }

    /// Sets every device as asked; what is not named goes back to what it was. `cell` names the cell in errors.
    pub(crate) fn configure(
        &self,
        agents: &mut Agents,
        settings: &BTreeMap<DeviceRef, DeviceSettings>,
        cell: &str,
    ) -> Result<(), Unset> {
        let mut ours = settings.clone();
        ours.retain(|at, _| self.lab.vm(&at.host).is_none());
        self.topology.configure(&ours).map_err(|error| match error {
            ConfigureError::Unsupported { .. } => Unset::Never(error.to_string()),
            source => Unset::Error(RunError::Configure { cell: cell.to_owned(), source }),
        })?;
        for host in self.guests(agents) {
            let order = Order::Configure { devices: of_host(settings, &host) };
            agents.ask(&host, "set its devices", order, PATIENCE)?;
        }
        Ok(())
    }

    /// The state of these devices and what they counted since they were made, both in this order.
    pub(crate) fn read(&self, agents: &mut Agents, devices: &[DeviceRef]) -> Result<DevicesRead, RunError> {
        let (inside, ours): (Vec<_>, Vec<_>) =
            devices.iter().cloned().partition(|at| self.lab.vm(&at.host).is_some());
        let states = self.topology.device_states(&ours)?;
        let counters = PathCounters::from(&self.topology.reading(&ours)?);
        let mut read = DevicesRead { states: states.iter().map(DeviceState::from).collect(), counters };
        for host in self.guests(agents) {
            let devices: Vec<_> = inside.iter().filter(|at| at.host == host).cloned().collect();
            if devices.is_empty() {
                continue;
            }
            match agents.ask(&host, "read its devices", Order::ReadDevices { devices }, PATIENCE)? {
                Reply::Devices(more) => {
                    read.states.extend(more.states);
                    read.counters.devices.extend(more.counters.devices);
                }
                other => return Err(unexpected(&host, &other)),
            }
        }
        let place = |name: &str| devices.iter().position(|at| at.to_string() == name);
        read.states.sort_by_key(|state| place(&state.device));
        read.counters.devices.sort_by_key(|counters| place(&counters.device));
        Ok(read)
    }

    /// Whether either end of the path is a virtual machine.
    pub(crate) fn has_vm_at(&self, path: &Path) -> bool {
        [&path.from.host, &path.to.host].into_iter().any(|host| self.lab.vm(host).is_some())
    }

    fn guests(&self, agents: &Agents) -> Vec<HostName> {
        agents.hosts().filter(|host| self.lab.vm(host).is_some()).cloned().collect()
    }
}
