//! Gives access to all devices of the lab.

use std::{collections::BTreeMap, time::Duration};

use protocol::{Order, Reply};
use samples::{DeviceState, PathCounters};
use scenario::{DeviceRef, DeviceSettings, HostName, Lab, Path};
use topology::{ConfigureError, ReadError, Topology};

use crate::{agents::Agents, error::RunError, event::Observer};

const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Clone, Copy)]
pub(crate) struct LabHandle<'a> {
    pub(crate) lab: &'a Lab,
    pub(crate) topology: &'a Topology,
    pub(crate) between: Option<&'a Topology>,
}

pub(crate) enum Unset {
    Never(String),
    Error(RunError),
}

impl From<RunError> for Unset {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Refused { reason, unsupported: true, .. } => Self::Never(reason),
            error => Self::Error(error),
        }
    }
}

impl<'a> LabHandle<'a> {
    pub(crate) fn topologies(&self) -> impl Iterator<Item = &'a Topology> {
        [Some(self.topology), self.between].into_iter().flatten()
    }

    pub(crate) fn configure_guests(&self, agents: &mut Agents) -> Result<(), RunError> {
        let guests = self.agents_where(agents, |host| self.lab.vm(host).is_some());
        self.set_up(agents, guests, "configure its devices")
    }

    pub(crate) fn create_on_existing(
        &self,
        agents: &mut Agents,
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        for host in self.agents_where(agents, |host| self.has_devices_on(host)) {
            if agents.has(&host)
                && let Err(error) = self.set_up(agents, vec![host], "create the lab's devices on it")
            {
                agents.leave_out(error, observer)?;
            }
        }
        Ok(())
    }

    fn set_up(&self, agents: &mut Agents, hosts: Vec<HostName>, what: &'static str) -> Result<(), RunError> {
        for host in hosts {
            let order = Order::ConfigureNetwork { lab: Box::new(self.lab.inside(&host)), host: host.clone() };
            agents.ask(&host, what, order, PATIENCE)?;
        }
        Ok(())
    }

    /// Devices without settings are restored. Error messages contain `result`.
    pub(crate) fn configure(
        &self,
        agents: &mut Agents,
        settings: &BTreeMap<DeviceRef, DeviceSettings>,
        result: &str,
    ) -> Result<(), Unset> {
        let is_set = |(at, settings): &(&DeviceRef, &DeviceSettings)| {
            self.lab.existing(&at.host).is_some()
                && !self.lab.is_made_on(at, &at.host)
                && **settings != DeviceSettings::default()
        };
        if let Some((at, _)) = settings.iter().find(is_set) {
            return Err(Unset::Never(format!(
                "`{}` is an existing host; plumb does not change its device `{at}`",
                at.host
            )));
        }
        let mut ours = settings.clone();
        ours.retain(|at, _| !self.is_elsewhere(&at.host));
        self.topology.configure(&ours).map_err(|error| match error {
            ConfigureError::Unsupported { .. } => Unset::Never(error.to_string()),
            source => Unset::Error(RunError::Configure { result: result.to_owned(), source }),
        })?;
        agents.limit_cpus(settings)?;
        for host in self.agents_where(agents, |host| self.lab.vm(host).is_some() || self.has_devices_on(host))
        {
            let devices = settings.iter().filter(|(at, _)| self.agent_of(&at.host) == &host);
            let order =
                Order::Configure { devices: devices.map(|(at, set)| (at.clone(), set.clone())).collect() };
            agents.ask(&host, "set its devices", order, PATIENCE)?;
        }
        Ok(())
    }

    /// Returns the states in path order.
    pub(crate) fn states(
        &self,
        agents: &mut Agents,
        ways: &[&[DeviceRef]],
    ) -> Result<Vec<Vec<DeviceState>>, RunError> {
        let here = ways.iter().map(|devices| self.states_here(devices));
        let mut all = here.collect::<Result<Vec<_>, RunError>>()?;
        let order = |devices| Order::ReadStates { devices };
        for (way, host, reply) in self.ask_inside(agents, ways, "read its devices", order)? {
            match reply {
                Reply::DeviceStates { states } => all[way].extend(states),
                other => return Err(RunError::unexpected(&host, &other)),
            }
        }
        for (states, devices) in all.iter_mut().zip(ways) {
            states.sort_by_key(|state| place(devices, &state.device));
        }
        Ok(all)
    }

    /// Returns the counts since the devices were created, in path order.
    pub(crate) fn counters(
        &self,
        agents: &mut Agents,
        ways: &[&[DeviceRef]],
    ) -> Result<Vec<PathCounters>, RunError> {
        let here = ways.iter().map(|devices| self.counters_here(devices));
        let mut all = here.collect::<Result<Vec<_>, RunError>>()?;
        let order = |devices| Order::ReadCounters { devices };
        for (way, host, reply) in self.ask_inside(agents, ways, "read its counters", order)? {
            match reply {
                Reply::DeviceCounters { counters, hosts } => {
                    all[way].devices.extend(counters);
                    all[way].hosts.extend(hosts);
                }
                other => return Err(RunError::unexpected(&host, &other)),
            }
        }
        for (counters, devices) in all.iter_mut().zip(ways) {
            counters.devices.sort_by_key(|counters| place(devices, &counters.device));
        }
        Ok(all)
    }

    fn states_here(&self, devices: &[DeviceRef]) -> Result<Vec<DeviceState>, RunError> {
        let mut states = self.topology.device_states(&self.outside(devices))?;
        if let Some(between) = self.between {
            states.extend(between.device_states(&on(between, devices))?);
        }
        Ok(states)
    }

    fn counters_here(&self, devices: &[DeviceRef]) -> Result<PathCounters, RunError> {
        let mut counters = self.topology.reading(&self.outside(devices))?;
        if let Some(between) = self.between {
            let more = between.reading(&on(between, devices))?;
            counters.devices.extend(more.devices);
            counters.hosts.extend(more.hosts);
        }
        Ok(counters)
    }

    fn ask_inside(
        &self,
        agents: &mut Agents,
        ways: &[&[DeviceRef]],
        what: &'static str,
        order: impl Fn(Vec<DeviceRef>) -> Order,
    ) -> Result<Vec<(usize, HostName, Reply)>, RunError> {
        let (mut targets, mut pending) = (Vec::new(), Vec::new());
        for (way, devices) in ways.iter().enumerate() {
            for (host, devices) in self.inside(agents, devices) {
                pending.push(agents.request(&host, what, order(devices), PATIENCE)?);
                targets.push((way, host));
            }
        }
        let replies = agents.wait(&pending, |_| ())?;
        Ok(targets.into_iter().zip(replies).map(|((way, host), reply)| (way, host, reply)).collect())
    }

    pub(crate) fn explain(&self, agents: &Agents, path: &Path, error: RunError) -> RunError {
        let is_symptom =
            matches!(error, RunError::Refused { unsupported: false, .. } | RunError::Silent { .. });
        match self.topology.device_states(&self.outside(&path.devices)) {
            Err(absent @ ReadError::Absent { .. }) if is_symptom => return absent.into(),
            _ => {}
        }
        let RunError::Refused { host, what, reason, unsupported: false } = error else { return error };
        let ends = [&path.from.host, &path.to.host].into_iter();
        let troubles =
            ends.filter_map(|end| Some(format!("; host {end}: {}", agents.trouble(self.agent_of(end))?)));
        let reason = troubles.fold(reason, |reason, trouble| reason + &trouble);
        RunError::Refused { host, what, reason, unsupported: false }
    }

    pub(crate) fn has_vm_at(&self, path: &Path) -> bool {
        [&path.from.host, &path.to.host].into_iter().any(|host| self.lab.vm(host).is_some())
    }

    pub(crate) fn is_here(&self, path: &Path) -> bool {
        [&path.from.host, &path.to.host].into_iter().any(|host| !self.lab.is_remote(host))
    }

    fn is_elsewhere(&self, host: &HostName) -> bool {
        self.lab.vm(host).is_some() || self.lab.seat(host).is_some()
    }

    fn agent_of<'h>(&'h self, host: &'h HostName) -> &'h HostName {
        self.lab.seat(host).unwrap_or(host)
    }

    fn has_devices_on(&self, host: &HostName) -> bool {
        self.lab.existing(host).is_some()
            && self.lab.link_devices().any(|made| self.lab.is_made_on(made.at, host))
    }

    fn outside(&self, devices: &[DeviceRef]) -> Vec<DeviceRef> {
        let is_ours = |at: &&DeviceRef| {
            !self.is_elsewhere(&at.host) && self.between.is_none_or(|between| !between.has(at))
        };
        devices.iter().filter(is_ours).cloned().collect()
    }

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

fn on(topology: &Topology, devices: &[DeviceRef]) -> Vec<DeviceRef> {
    devices.iter().filter(|at| topology.has(at)).cloned().collect()
}

fn place(devices: &[DeviceRef], name: &str) -> Option<usize> {
    devices.iter().position(|at| at.to_string() == name)
}
