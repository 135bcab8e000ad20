//! What can go wrong with a machine.

use fleet::FleetError;
use thiserror::Error;

use crate::{firecracker::FirecrackerError, guest::GuestError, qemu::QemuError, ssh::SshError};

/// A machine could not do what was asked.
#[derive(Debug, Error)]
pub enum MachineError {
    /// The agent could not be started.
    #[error("cannot start the agent of host {host}: {source}")]
    Start {
        host: String,
        /// Why.
        #[source]
        source: sys::Error,
    },
    /// It was started already.
    #[error("the agent of host {host} was started already")]
    Started { host: String },
    /// Its guest has nothing to boot.
    #[error(transparent)]
    Guest(#[from] GuestError),
    /// The virtual machine could not be started.
    #[error("cannot start virtual machine {host}: {source}")]
    Qemu {
        host: String,
        /// Why.
        #[source]
        source: QemuError,
    },
    /// The virtual machine could not be started.
    #[error("cannot start virtual machine {host}: {source}")]
    Firecracker {
        host: String,
        /// Why.
        #[source]
        source: FirecrackerError,
    },
    /// The agent could not be started over SSH.
    #[error("host {}: {source}", named(.host, .destination))]
    Ssh {
        host: String,
        /// As `ssh` was given it.
        destination: String,
        /// Why.
        #[source]
        source: SshError,
    },
    /// The user interrupted the start of the agent.
    #[error("interrupted while starting the agent of host {host}")]
    Interrupted { host: String },
    /// A member did not start the agent.
    #[error("host {host}: {source}")]
    Member {
        host: String,
        /// Why.
        #[source]
        source: FleetError,
    },
}

impl MachineError {
    /// The host that it is of.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        match self {
            Self::Guest(_) => None,
            Self::Start { host, .. }
            | Self::Started { host }
            | Self::Interrupted { host }
            | Self::Qemu { host, .. }
            | Self::Firecracker { host, .. }
            | Self::Ssh { host, .. }
            | Self::Member { host, .. } => Some(host),
        }
    }
}

/// A host with its destination, where that says more.
fn named(host: &str, destination: &str) -> String {
    if host == destination { host.to_owned() } else { format!("{host} ({destination})") }
}
