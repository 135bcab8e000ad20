//! A host that exists already: how its agent is reached, and where traffic goes. What is made on it is in a namespace beside its own. Must not know how an
//! agent is started.

use std::{fmt, net::Ipv4Addr};

use serde::{Deserialize, Serialize};

use crate::{
    names::{DeviceName, DeviceRef, HostName},
    path::PathEnd,
};

/// What a device is called until the host itself has told which one it is.
const UNKNOWN: &str = "auto";

/// A machine with a network of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExistingHost {
    pub access: Access,
    /// The address that traffic comes from and goes to; `None` until the host has told.
    pub address: Option<Ipv4Addr>,
    /// The device that has it; `None` until the host has told.
    pub interface: Option<DeviceName>,
    /// The port that it listens on while it is the server, instead of the workload's.
    pub port: Option<u16>,
    /// The MTU of the device; `None` until the host has told.
    #[serde(default)]
    pub mtu: Option<u32>,
    /// The name of what it shares with other hosts on the way to all of them.
    #[serde(default)]
    pub uplink: Option<String>,
}

/// How an agent is started on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// It is this machine.
    Local,
    /// By the system's `ssh`, which knows the destination.
    Ssh { destination: String },
    /// By the member of a fleet that runs there.
    Member { name: String },
}

impl Access {
    /// What tells one machine from another; that of this machine is no destination.
    pub(crate) fn machine(&self) -> &str {
        match self {
            Self::Local => "",
            Self::Ssh { destination } => destination,
            Self::Member { name } => name,
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("this machine"),
            Self::Ssh { destination } => write!(f, "ssh {destination}"),
            Self::Member { name } => write!(f, "member {name}"),
        }
    }
}

impl ExistingHost {
    /// Whether it is this machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.access == Access::Local
    }

    /// The end of paths that it is, under its name.
    #[must_use]
    pub fn end(&self, host: &HostName) -> PathEnd {
        let device = self.interface.clone().unwrap_or_else(|| DeviceName::new(UNKNOWN));
        let address = self.address.unwrap_or(Ipv4Addr::UNSPECIFIED);
        PathEnd { host: host.clone(), device: DeviceRef { host: host.clone(), device }, address }
    }
}
