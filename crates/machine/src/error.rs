//! The errors of machines.

use std::io;

use fleet::FleetError;
use thiserror::Error;

use crate::{firecracker::FirecrackerError, guest::GuestError, qemu::QemuError, ssh::SshError};

#[derive(Debug, Error)]
pub enum MachineError {
    #[error("cannot start the agent of host {host}: {source}")]
    Start {
        host: String,
        #[source]
        source: sys::Error,
    },
    #[error(
        "cannot move the agent of host {host} into the workload's cgroup ({file}): {source}; omit --as-workload"
    )]
    Cgroup {
        host: String,
        file: String,
        #[source]
        source: io::Error,
    },
    #[error("the agent of host {host} is already running")]
    Started { host: String },
    #[error(transparent)]
    Guest(#[from] GuestError),
    #[error("cannot start virtual machine {host}: {source}")]
    Qemu {
        host: String,
        #[source]
        source: QemuError,
    },
    #[error("cannot start virtual machine {host}: {source}")]
    Firecracker {
        host: String,
        #[source]
        source: FirecrackerError,
    },
    #[error("host {}: {source}", named(.host, .destination))]
    Ssh {
        host: String,
        destination: String,
        #[source]
        source: SshError,
    },
    #[error("interrupted while starting the agent of host {host}")]
    Interrupted { host: String },
    #[error("host {host}: {source}")]
    Member {
        host: String,
        #[source]
        source: FleetError,
    },
}

impl MachineError {
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        match self {
            Self::Guest(_) => None,
            Self::Start { host, .. }
            | Self::Cgroup { host, .. }
            | Self::Started { host }
            | Self::Interrupted { host }
            | Self::Qemu { host, .. }
            | Self::Firecracker { host, .. }
            | Self::Ssh { host, .. }
            | Self::Member { host, .. } => Some(host),
        }
    }
}

fn named(host: &str, destination: &str) -> String {
    if host == destination { host.to_owned() } else { format!("{host} ({destination})") }
}
