//! The lab as it stands, asked as one: what this machine's kernel made of it, and what the kernels of guests made and hosts
//! that exist already have, which only their agents can reach. Must not know what a trial is.

use std::{collections::BTreeMap, time::Duration};

use protocol::{Order, Reply};
use samples::{DeviceState, PathCounters};
use scenario::{DeviceRef, DeviceSettings, HostName, Lab, Path};
use topology::{ConfigureError, ReadError, Topology};

use crate::{agents::Agents, error::RunError, event::Observer, exchange::unexpected};

/// For settings and readings of a guest's devices, on a machine with other work.
const PATIENCE: Duration = Duration::from_secs(10);

/// A lab that stands.
#[derive(Clone, Copy)]
pub(crate) struct LabHandle<'a> {
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

impl LabHandle<'_> {
    /// Gives the devices of every guest that has an agent what the lab says of them.
    pub(crate) fn dress_guests(&self, agents: &mut Agents) -> Result<(), RunError> {
        let guests = self.agents_where(agents, |host| self.lab.vm(host).is_some());
        self.dress(agents, guests, "dress its devices")
    }

    /// Has each host that exists already make what of the lab is on it.
    pub(crate) fn make_on_existing(
        &self,
        agents: &mut Agents,
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        for host in self.agents_where(agents, |host| self.has_made_on(host)) {
            if agents.has(&host)
                && let Err(error) = self.dress(agents, vec![host], "make what the lab has on it")
            {
                agents.leave_out(error, observer)?;
            }
        }
        Ok(())
    }

    fn dress(&self, agents: &mut Agents, hosts: Vec<HostName>, what: &'static str) -> Result<(), RunError> {
        for host in hosts {
            let order = Order::Dress { lab: Box::new(self.lab.inside(&host)), host: host.clone() };
            agents.ask(&host, what, order, PATIENCE)?;
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
        let is_set = |(at, settings): &(&DeviceRef, &DeviceSettings)| {
            self.lab.existing(&at.host).is_some()
                && !self.lab.is_made_on(at, &at.host)
                && **settings != DeviceSettings::default()
        };
        if let Some((at, _)) = settings.iter().find(is_set) {
            return Err(Unset::Never(format!(
                "`{}` exists already, and `{at}` is read and never set",
                at.host
            )));
        }
        let mut ours = settings.clone();
        ours.retain(|at, _| !self.is_elsewhere(&at.host));
        self.topology.configure(&ours).map_err(|error| match error {
            ConfigureError::Unsupported { .. } => Unset::Never(error.to_string()),
            source => Unset::Error(RunError::Configure { cell: cell.to_owned(), source }),
        })?;
        for host in self.agents_where(agents, |host| self.lab.vm(host).is_some() || self.has_made_on(host)) {
            let devices = settings.iter().filter(|(at, _)| self.agent_of(&at.host) == &host);
            let order =
                Order::Configure { devices: devices.map(|(at, set)| (at.clone(), set.clone())).collect() };
            agents.ask(&host, "set its devices", order, PATIENCE)?;
        }
        Ok(())
    }

    /// The states of the devices of each of these ways, in its order; all agents are asked at once.
    pub(crate) fn states(
        &self,
        agents: &mut Agents,
        ways: &[&[DeviceRef]],
    ) -> Result<Vec<Vec<DeviceState>>, RunError> {
        let here = ways.iter().map(|devices| Ok(self.topology.device_states(&self.outside(devices))?));
        let mut all = here.collect::<Result<Vec<_>, RunError>>()?;
        let order = |devices| Order::ReadStates { devices };
        for (way, host, reply) in self.ask_inside(agents, ways, "read its devices", order)? {
            match reply {
                Reply::DeviceStates { states } => all[way].extend(states),
                other => return Err(unexpected(&host, &other)),
            }
        }
        for (states, devices) in all.iter_mut().zip(ways) {
            states.sort_by_key(|state| place(devices, &state.device));
        }
        Ok(all)
    }

    /// What the devices of each of these ways counted since they were made, in its order, and the hosts on it; all agents are asked at
    /// once.
    pub(crate) fn counters(
        &self,
        agents: &mut Agents,
        ways: &[&[DeviceRef]],
    ) -> Result<Vec<PathCounters>, RunError> {
        let here = ways.iter().map(|devices| Ok(self.topology.reading(&self.outside(devices))?));
        let mut all = here.collect::<Result<Vec<_>, RunError>>()?;
        let order = |devices| Order::ReadCounters { devices };
        for (way, host, reply) in self.ask_inside(agents, ways, "read its counters", order)? {
            match reply {
                Reply::DeviceCounters { counters } => all[way].devices.extend(counters),
                other => return Err(unexpected(&host, &other)),
            }
        }
        for (counters, devices) in all.iter_mut().zip(ways) {
            counters.devices.sort_by_key(|counters| place(devices, &counters.device));
        }
        Ok(all)
    }

    /// Asks all agents that alone know some devices of these ways: the place of the way, whom, and the answer.
    fn ask_inside(
        &self,
        agents: &mut Agents,
        ways: &[&[DeviceRef]],
        what: &'static str,
        order: impl Fn(Vec<DeviceRef>) -> Order,
    ) -> Result<Vec<(usize, HostName, Reply)>, RunError> {
        let (mut asked, mut pending) = (Vec::new(), Vec::new());
        for (way, devices) in ways.iter().enumerate() {
            for (host, devices) in self.inside(agents, devices) {
                pending.push(agents.request(&host, what, order(devices), PATIENCE)?);
                asked.push((way, host));
            }
        }
        let replies = agents.wait(&pending, |_| ())?;
        Ok(asked.into_iter().zip(replies).map(|((way, host), reply)| (way, host, reply)).collect())
    }

    /// Why a trial on `path` came to nothing: a device that is gone, or a machine in trouble, tells more than what that led
    /// to.
    pub(crate) fn explain(&self, agents: &Agents, path: &Path, error: RunError) -> RunError {
        let led_to = matches!(error, RunError::Refused { unsupported: false, .. } | RunError::Silent { .. });
        match self.topology.device_states(&self.outside(&path.devices)) {
            Err(gone @ ReadError::Absent { .. }) if led_to => return gone.into(),
            _ => {}
        }
        let RunError::Refused { host, what, because, unsupported: false } = error else { return error };
        let ends = [&path.from.host, &path.to.host].into_iter();
        let troubles =
            ends.filter_map(|end| Some(format!("; host {end}: {}", agents.trouble(self.agent_of(end))?)));
        let because = troubles.fold(because, |because, trouble| because + &trouble);
        RunError::Refused { host, what, because, unsupported: false }
    }

    /// Whether either end of the path is a virtual machine.
    pub(crate) fn has_vm_at(&self, path: &Path) -> bool {
        [&path.from.host, &path.to.host].into_iter().any(|host| self.lab.vm(host).is_some())
    }

    /// Whether an end of the path, or the monitor of one, is on this machine.
    pub(crate) fn is_here(&self, path: &Path) -> bool {
        [&path.from.host, &path.to.host].into_iter().any(|host| !self.lab.is_remote(host))
    }

    /// Whether only its agent knows the devices of a host.
    fn is_elsewhere(&self, host: &HostName) -> bool {
        self.lab.vm(host).is_some() || self.lab.seat(host).is_some()
    }

    /// Whose agent knows the devices of a host.
    fn agent_of<'h>(&'h self, host: &'h HostName) -> &'h HostName {
        self.lab.seat(host).unwrap_or(host)
    }

    /// Whether anything is made on a host that exists already.
    fn has_made_on(&self, host: &HostName) -> bool {
        self.lab.existing(host).is_some()
            && self.lab.link_devices().any(|made| self.lab.is_made_on(made.at, host))
    }

    fn outside(&self, devices: &[DeviceRef]) -> Vec<DeviceRef> {
        devices.iter().filter(|at| !self.is_elsewhere(&at.host)).cloned().collect()
    }

    /// Those of each host that has any of them and is elsewhere.
    fn inside(&self, agents: &Agents, devices: &[DeviceRef]) -> Vec<(HostName, Vec<DeviceRef>)> {
        let of = |host: HostName| {
            let devices: Vec<_> =
                devices.iter().filter(|at| *self.agent_of(&at.host) == host).cloned().collect();
            (!devices.is_empty()).then_some((host, devices))
        };
        let elsewhere = agents.hosts().filter(|host| self.is_elsewhere(host));
        elsewhere.cloned().collect::<Vec<_>>().into_iter().filter_map(of).collect()
    }

    fn agents_where(&self, agents: &Agents, wanted: impl Fn(&HostName) -> bool) -> Vec<HostName> {
        agents.hosts().filter(|host| wanted(host)).cloned().collect()
    }
}

/// Where in `devices` the one of that name is.
fn place(devices: &[DeviceRef], name: &str) -> Option<usize> {
    devices.iter().position(|at| at.to_string() == name)
}
