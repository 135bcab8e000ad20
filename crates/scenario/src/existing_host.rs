//! How to reach an existing host, and where to send its traffic.

use std::{fmt, net::IpAddr, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    endpoint::{Endpoint, EndpointError},
    family::UNKNOWN as UNKNOWN_ADDRESS,
    names::{DeviceName, DeviceRef, HostName},
    path::PathEnd,
};

/// Placeholder for the device's name until the host has reported it.
const UNKNOWN: &str = "auto";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExistingHost {
    pub access: Access,
    /// The address for test traffic, or `None` until the host has reported it.
    pub address: Option<IpAddr>,
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
    Ssh {
        destination: String,
    },
    Member {
        name: String,
    },
    /// A network namespace on this machine, created by another program.
    Endpoint(Endpoint),
}

impl Access {
    pub(crate) fn machine(&self) -> &str {
        match self {
            Self::Local | Self::Endpoint(_) => "",
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
            Self::Endpoint(endpoint) => endpoint.fmt(f),
        }
    }
}

impl FromStr for Access {
    type Err = EndpointError;

    /// Parses `at` in a scenario and the arguments of `plumb between`.
    fn from_str(text: &str) -> Result<Self, EndpointError> {
        match text.split_once(':') {
            None if text == "local" => Ok(Self::Local),
            Some(("ssh", destination)) => Ok(Self::Ssh { destination: destination.to_owned() }),
            Some(("member", name)) => Ok(Self::Member { name: name.to_owned() }),
            _ => text.parse().map(Self::Endpoint),
        }
    }
}

impl ExistingHost {
    #[must_use]
    pub fn is_on_this_machine(&self) -> bool {
        matches!(self.access, Access::Local | Access::Endpoint(_))
    }

    #[must_use]
    pub fn end(&self, host: &HostName) -> PathEnd {
        let device = self.interface.clone().unwrap_or_else(|| DeviceName::new(UNKNOWN));
        let address = self.address.unwrap_or(UNKNOWN_ADDRESS);
        PathEnd { host: host.clone(), device: DeviceRef { host: host.clone(), device }, address }
    }
}
