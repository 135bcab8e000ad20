//! A machine that is started only to be known: what it is, how soon it can be used, which probes run on it.

use std::time::{Duration, Instant};

use machine::Machine;
use samples::{Environment, MissingProbe};
use scenario::{HostName, ProbeKind};

use crate::{error::RunError, stop::Stop, watcher::Watcher};

/// What is known of a machine that was started.
#[derive(Debug)]
pub struct Introduction {
    /// Its kernel, CPUs and clock, as its agent sees them.
    pub environment: Environment,
    /// The probes that cannot run on it.
    pub missing: Vec<MissingProbe>,
    /// From its start until its first process ran: the machine's own part and its kernel's. `None` for one that ran
    /// before.
    pub booted_within: Option<Duration>,
    /// From its start until its agent had greeted.
    pub ready_within: Duration,
}

/// A machine that stands, and ends when this is dropped.
pub struct Introduced {
    /// What is known of it.
    pub known: Introduction,
    /// Holds it.
    _watcher: Watcher,
}

/// Starts `machine` and lets it tell what it is and try `probes`. Errors call it `host`; `tool` is the version that both
/// sides must have.
///
/// # Errors
/// When it cannot be started, its agent does not answer, or `stop` was asked.
pub fn introduce(
    (host, machine): (HostName, Box<dyn Machine>),
    tool: &str,
    stop: &Stop,
    probes: &[ProbeKind],
) -> Result<Introduced, RunError> {
    let begun = Instant::now();
    let mut watcher = Watcher::greeted((host, machine), tool, stop, probes, Vec::new())?;
    let ready_within = begun.elapsed();
    let booted_within = watcher.booted_within();
    let environment = watcher.describe()?;
    let missing = if probes.is_empty() { Vec::new() } else { watcher.try_probes()? };
    if let Some(error) = watcher.loss() {
        return Err(error);
    }
    let known = Introduction { environment, missing, booted_within, ready_within };
    Ok(Introduced { known, _watcher: watcher })
}
