//! Starts a machine to learn its properties, its boot time and its working probes.

use std::time::Duration;

use machine::Machine;
use samples::{DeviceState, Environment, MissingProbe, ProbeKind};
use scenario::{HostName, PathEnd};

use crate::{error::RunError, existing_hosts, guest_network::GuestNetwork, observer::Watcher, stop::Stop};

/// Properties of a started machine.
#[derive(Debug)]
pub struct Introduction {
    /// Kernel, CPUs and clock, as reported by its agent.
    pub environment: Environment,
    /// States of its network device and of the tap device behind it. Empty without a network.
    pub devices: Vec<DeviceState>,
    /// Probes that cannot run on it.
    pub missing: Vec<MissingProbe>,
    /// Time from start to the first process. `None` for a machine that was already running.
    pub booted_within: Option<Duration>,
    /// Time from start to the agent's greeting.
    pub ready_within: Duration,
    /// Number of earlier starts that hung.
    pub hung_starts: u32,
}

/// Starts `machine`, reads its properties, tries `probes`, configures and reads its device in `network`, then stops
/// it. `host` is its name in errors, `tool` the required agent version.
///
/// # Errors
/// If it cannot be started, its agent refuses or does not reply, or `stop` is set.
pub fn introduce(
    (host, machine): (HostName, Box<dyn Machine>),
    network: Option<&GuestNetwork>,
    tool: &str,
    stop: &Stop,
    probes: &[ProbeKind],
) -> Result<Introduction, RunError> {
    let mut watcher = Watcher::greeted((host.clone(), machine), tool, stop, probes, Vec::new())?;
    match properties(&mut watcher, &host, network, probes) {
        // A machine that hangs right after the greeting is still booting.
        Err(RunError::Silent { .. }) if watcher.start_again(probes)? => {
            properties(&mut watcher, &host, network, probes)
        }
        properties => properties,
    }
}

/// Properties of an existing host.
#[derive(Debug)]
pub struct ExistingIntroduction {
    pub environment: Environment,
    /// The default interface for traffic and its MTU, or the reason why it is unknown.
    pub interface: Result<(PathEnd, u32), String>,
}

/// Starts an agent on an existing host, reads its properties and its default interface, then stops the agent.
///
/// # Errors
/// If the agent cannot be started or does not reply, or `stop` is set.
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
    // Read it last: the clock source of a booting kernel may still change.
    let environment = watcher.describe()?;
    Ok(Introduction { environment, devices, missing, booted_within, ready_within, hung_starts })
}
