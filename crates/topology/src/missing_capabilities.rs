//! The parts of a lab that could not be created because the kernel does not support them.

use std::fmt;

use scenario::{DeviceRef, DeviceSettingKind, HostName};

use crate::refusal::Refusal;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    Host(HostName),
    Link { noun: &'static str, name: String },
    Rate(String),
    Gateway(String),
    Route(HostName, String),
    Setting(DeviceSettingKind, DeviceRef),
}

impl Element {
    pub(crate) fn creates_devices(&self) -> bool {
        matches!(self, Self::Link { .. })
    }

    #[must_use]
    pub fn device(&self) -> Option<&DeviceRef> {
        match self {
            Self::Setting(_, device) => Some(device),
            _ => None,
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(name) => write!(f, "host `{name}`"),
            Self::Link { noun, name } => write!(f, "{noun} `{name}`"),
            Self::Rate(name) => write!(f, "rate limit of link `{name}`"),
            Self::Gateway(name) => write!(f, "gateway `{name}`"),
            Self::Route(host, route) => write!(f, "route `{route}` of host `{host}`"),
            Self::Setting(kind, device) => write!(f, "{} of device `{device}`", kind.noun()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub element: Element,
    pub devices: Vec<DeviceRef>,
    pub reason: String,
    pub(crate) refusal: Option<Refusal>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.element, self.reason)
    }
}
