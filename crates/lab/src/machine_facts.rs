//! A machine that is started only to be known: what it is, how soon it can be used, which probes run on it.

use std::time::Duration;

use machine::Machine;
use samples::{DeviceState, Environment, MissingProbe, ProbeKind};
use scenario::{HostName, PathEnd};

use crate::{error::RunError, existing_hosts, guest_network::GuestNetwork, observer::Watcher, stop::Stop};

/// What is known of a machine that was started.
#[derive(Debug)]
pub struct Introduction {
    /// Its kernel, CPUs and clock, as its agent sees them.
    pub environment: Environment,
    /// Its network device and the tap device that is the other side of it, as each kernel has them; none without a network.
    pub devices: Vec<DeviceState>,
    /// The probes that cannot run on it.
    pub missing: Vec<MissingProbe>,
    /// From its start until its first process ran: the machine's own part and its kernel's. `None` for one that ran
    /// before.
    pub booted_within: Option<Duration>,
    /// From its start until its agent had greeted.
    pub ready_within: Duration,
    /// How many starts before that hung.
    pub hung_starts: u32,
}

/// Starts `machine`, lets it tell what it is and try `probes`, has its device in `network` dressed and read, and ends it.
/// Errors call it `host`; `tool` is the version that both sides must have.
///
/// # Errors
/// When it cannot be started, its agent does not answer or refuses, or `stop` was asked.
pub fn introduce(
    (host, machine): (HostName, Box<dyn Machine>),
    network: Option<&GuestNetwork>,
    tool: &str,
    stop: &Stop,
    probes: &[ProbeKind],
) -> Result<Introduction, RunError> {
    let mut watcher = Watcher::greeted((host.clone(), machine), tool, stop, probes, Vec::new())?;
    match known(&mut watcher, &host, network, probes) {
        // What hangs so soon after its greeting hangs as it boots.
        Err(RunError::Silent { .. }) if watcher.start_again(probes)? => {
            known(&mut watcher, &host, network, probes)
        }
        known => known,
    }
}

/// What is known of a host that exists already.
#[derive(Debug)]
pub struct ExistingIntroduction {
    pub environment: Environment,
    /// Where its traffic goes if a scenario says no more, and the MTU there; otherwise why nobody knows.
    pub interface: Result<(PathEnd, u32), String>,
}

/// Starts an agent on a host that exists already, lets it tell what it is and where its traffic goes, and ends it.
///
/// # Errors
/// When it cannot be started, its agent does not answer, or `stop` was asked.
pub fn introduce_existing(
    (host, machine): (HostName, Box<dyn Machine>),
    tool: &str,
    stop: &Stop,
) -> Result<ExistingIntroduction, RunError> {
    let mut watcher = Watcher::greeted((host.clone(), machine), tool, stop, &[], Vec::new())?;
    let interface = match existing_hosts::interface(watcher.agents(), &host, (None, None)) {
        Ok(found) => Ok(found),
        Err(RunError::Refused { because, .. }) => Err(because),
        Err(error) => return Err(error),
    };
    Ok(ExistingIntroduction { environment: watcher.describe()?, interface })
}

fn known(
    watcher: &mut Watcher,
    host: &HostName,
    network: Option<&GuestNetwork>,
    probes: &[ProbeKind],
) -> Result<Introduction, RunError> {
    let agents = watcher.agents();
    let ready_within = agents.ready_within(host).unwrap_or_default();
    let (booted_within, hung_starts) = (agents.booted_within(host), agents.hung_starts(host));
    let devices = network.map(|network| network.dressed(watcher.agents())).transpose()?.unwrap_or_default();
    let missing = if probes.is_empty() { Vec::new() } else { watcher.try_probes()? };
    if let Some(error) = watcher.loss() {
        return Err(error);
    }
    // Last: a kernel that has just booted settles on its clock meanwhile, or is waited for.
    let environment = watcher.describe()?;
    Ok(Introduction { environment, devices, missing, booted_within, ready_within, hung_starts })
}
