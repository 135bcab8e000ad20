//! Newtypes for the names in a scenario, so that e.g. hosts and devices cannot be confused.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Does not validate the name. The document's checks do.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// A host of the lab: a network namespace, an existing host, a guest or a pod.
    HostName
);
name!(
    /// At most 15 bytes, as in the kernel.
    DeviceName
);
name!(PathName);
name!(WorkloadName);
name!(FactorName);
name!(ResultId);

/// A device in a host, written `host:device`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceRef {
    pub host: HostName,
    pub device: DeviceName,
}

impl DeviceRef {
    pub fn new(host: impl Into<String>, device: impl Into<String>) -> Self {
        Self { host: HostName::new(host), device: DeviceName::new(device) }
    }

    pub(crate) fn named_in(host: &str, text: &str) -> Self {
        let rest = text.strip_prefix(host).and_then(|rest| rest.strip_prefix(':'));
        Self::new(host, rest.unwrap_or(text))
    }
}

impl fmt::Display for DeviceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.device)
    }
}

impl FromStr for DeviceRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some((host, device)) if !host.is_empty() && !device.is_empty() => Ok(Self::new(host, device)),
            _ => Err(format!("`{text}` is not a device; write `host:device`, e.g. `node1:eth0`")),
        }
    }
}

impl Serialize for DeviceRef {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DeviceRef {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
