//! Starts a machine to find out its properties, its boot time and which probes work on it.

use std::time::Duration;

use machine::Machine;
use samples::{DeviceState, Environment, MissingProbe, ProbeKind};
use scenario::{HostName, PathEnd};

use crate::{error::RunError, existing_hosts, guest_network::GuestNetwork, observer::Watcher, stop::Stop};

#[derive(Debug)]
pub struct Introduction {
    pub environment: Environment,
    pub devices: Vec<DeviceState>,
    pub missing: Vec<MissingProbe>,
    pub booted_within: Option<Duration>,
    pub ready_within: Duration,
    pub hung_starts: u32,
}

/// `host` is the machine's name in errors, `tool` the required agent version.
pub fn introduce(
    (host, machine): (HostName, Box<dyn Machine>),
    network: Option<&GuestNetwork>,
    tool: &str,
    stop: &Stop,
    probes: &[ProbeKind],
) -> Result<Introduction, RunError> {
    let mut watcher = Watcher::greeted((host.clone(), machine), tool, stop, probes, Vec::new())?;
    match properties(&mut watcher, &host, network, probes) {
        // A machine that hangs right after its greeting still counts as booting.
        Err(RunError::Silent { .. }) if watcher.start_again(probes)? => {
            properties(&mut watcher, &host, network, probes)
        }
        properties => properties,
    }
}

#[derive(Debug)]
pub struct ExistingIntroduction {
    pub environment: Environment,
    pub interface: Result<(PathEnd, u32), String>,
}

pub fn introduce_existing(
    (host, machine): (HostName, Box<dyn Machine>),
    tool: &str,
    stop: &Stop,
) -> Result<ExistingIntroduction, RunError> {
    let mut watcher = Watcher::greeted((host.clone(), machine), tool, stop, &[], Vec::new())?;
    let interface = match existing_hosts::interface(watcher.agents(), &host, (None, None)) {
        Ok(found) => Ok(found),
        Err(RunError::Refused { reason, .. }) => Err(reason),
        Err(error) => return Err(error),
    };
    Ok(ExistingIntroduction { environment: watcher.describe()?, interface })
}

fn properties(
    watcher: &mut Watcher,
    host: &HostName,
    network: Option<&GuestNetwork>,
    probes: &[ProbeKind],
) -> Result<Introduction, RunError> {
    let agents = watcher.agents();
    let ready_within = agents.ready_within(host).unwrap_or_default();
    let (booted_within, hung_starts) = (agents.booted_within(host), agents.hung_starts(host));
    let devices =
        network.map(|network| network.configured(watcher.agents())).transpose()?.unwrap_or_default();
    let missing = if probes.is_empty() { Vec::new() } else { watcher.try_probes()? };
    if let Some(error) = watcher.loss() {
        return Err(error);
    }
    // Read this last, because a booting kernel may still change its clock source.
    let environment = watcher.describe()?;
    Ok(Introduction { environment, devices, missing, booted_within, ready_within, hung_starts })
}
