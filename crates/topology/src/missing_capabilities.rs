//! What of a lab could not be raised because the kernel lacks it.
//!
//! Found by trying, never by looking at versions or modules. It must not know which paths suffer: that is
//! for whoever knows the paths.

use std::fmt;

use scenario::{DeviceRef, DeviceSettingKind, HostName};

/// A part of a lab that is raised, or missing, as a whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// A host's namespace.
    Host(HostName),
    Link {
        /// What its kind is called.
        noun: &'static str,
        name: String,
    },
    /// The rate limit of the wire of that name.
    Rate(String),
    /// The egress gateway of that name.
    Gateway(String),
    /// The static route of a host, as `to via next-hop`.
    Route(HostName, String),
    Setting(DeviceSettingKind, DeviceRef),
}

impl Element {
    /// Whether devices come into being with it, so that they are absent without it.
    pub(crate) fn makes_devices(&self) -> bool {
        matches!(self, Self::Link { .. })
    }

    /// The device, where the element is a setting of one.
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

/// An element that the kernel does not support; everything else was raised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub element: Element,
    /// The devices that are not there, or are there without it: a path that passes one of them cannot be
    /// what it says.
    pub devices: Vec<DeviceRef>,
    /// The operation that was tried and the kernel's answer.
    pub reason: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.element, self.reason)
    }
}
