//! How to reach an existing host, and where to send its traffic.

use std::{fmt, net::Ipv4Addr};

use serde::{Deserialize, Serialize};

use crate::{
    names::{DeviceName, DeviceRef, HostName},
    path::PathEnd,
};

/// Placeholder for the device's name until the host has reported it.
const UNKNOWN: &str = "auto";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExistingHost {
    pub access: Access,
    /// The address for test traffic, or `None` until the host has reported it.
    pub address: Option<Ipv4Addr>,
    pub interface: Option<DeviceName>,
    /// The port on which this host's servers listen, overriding the workload's.
    pub port: Option<u16>,
    #[serde(default)]
    pub mtu: Option<u32>,
    #[serde(default)]
    pub uplink: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    Local,
    Ssh { destination: String },
    Member { name: String },
}

impl Access {
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
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.access == Access::Local
    }

    #[must_use]
    pub fn end(&self, host: &HostName) -> PathEnd {
        let device = self.interface.clone().unwrap_or_else(|| DeviceName::new(UNKNOWN));
        let address = self.address.unwrap_or(Ipv4Addr::UNSPECIFIED);
        PathEnd { host: host.clone(), device: DeviceRef { host: host.clone(), device }, address }
    }
}
