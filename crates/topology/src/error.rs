//! What can go wrong with a topology: one enum per operation, naming the part of the lab and what to do.

use std::net::Ipv4Addr;

use scenario::{DeviceName, DeviceRef, HostName};
use thiserror::Error;

use crate::{missing_capabilities::Element, refusal::Refusal};

/// Why a lab could not be raised. Whatever stood already is gone when this is returned.
#[derive(Debug, Error)]
pub enum CreateError {
    /// The namespaces could not be made or entered.
    #[error("cannot make {hosts} network namespaces: {source}")]
    Namespaces {
        /// How many hosts the lab has.
        hosts: usize,
        /// The kernel's reason.
        source: sys::Error,
    },
    /// There was no way to speak with the kernel in a namespace.
    #[error("cannot open a netlink socket for {whom}: {refusal}; {}", refusal.remedy())]
    Netlink {
        /// Whose.
        whom: String,
        /// The kernel's reason.
        refusal: Refusal,
    },
    /// The lab names something that it does not have.
    #[error("{element} names {what}, which the lab does not have; run `plumb scenario check`")]
    Unknown {
        /// The part of the lab.
        element: Element,
        what: String,
    },
    /// Two parts of the lab make the same device.
    #[error("{element} makes device `{device}`, which another part of the lab makes too; rename one")]
    Twice {
        /// The second part.
        element: Element,
        device: DeviceRef,
    },
    /// The kernel refused, and not because it lacks the feature.
    #[error("{element}: cannot {operation}: {refusal}; {}", refusal.remedy())]
    Refused {
        /// The part of the lab.
        element: Element,
        /// What was tried, and in which host.
        operation: String,
        /// The kernel's reason.
        refusal: Refusal,
    },
    /// The kernel accepted everything and made something else.
    #[error(
        "device `{device}` has {what} {found} where {wanted} was asked for; this is a bug of Plumbline or the kernel"
    )]
    Differs {
        device: DeviceRef,
        what: &'static str,
        /// What the lab asks for.
        wanted: Box<str>,
        /// What was read back.
        found: Box<str>,
    },
    /// A guest's device is not as it was to be made.
    #[error(
        "virtual machine `{host}` has {setting} {found} where {wanted} was asked for: its monitor, its guest's driver or \
         this machine's kernel did not take that; leave it out, or ask for what is there"
    )]
    NotTaken {
        host: HostName,
        /// The setting, by its name in a scenario or that of the feature.
        setting: &'static str,
        /// What the lab asks for.
        wanted: Box<str>,
        /// What was read back.
        found: Box<str>,
    },
    /// A guest has not the device that its monitor was to give it.
    #[error("host `{host}` has no device with the MAC address {mac}, only {found}")]
    NoSuchMac {
        host: HostName,
        /// The MAC address.
        mac: String,
        /// The names of those that it has.
        found: String,
    },
    /// The settings of the devices could not be applied.
    #[error(transparent)]
    Configure(#[from] ConfigureError),
    /// The devices could not be read back.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl CreateError {
    /// Whether a right is lacking.
    #[must_use]
    pub fn is_permission(&self) -> bool {
        match self {
            Self::Namespaces { source, .. } => source.is_permission(),
            Self::Netlink { refusal, .. } | Self::Refused { refusal, .. } => refusal.is_permission(),
            _ => false,
        }
    }
}

/// Why devices could not be set as asked. Devices before this one are set already.
#[derive(Debug, Error)]
pub enum ConfigureError {
    /// The lab has no such device, or it is missing.
    #[error("the lab has no device `{device}`")]
    NoDevice { device: DeviceRef },
    /// The kernel or the device cannot do this.
    #[error("{element}: cannot set {setting}: {reason}; leave it out, or take another device")]
    Unsupported {
        /// Which kind of setting of which device.
        element: Element,
        /// The setting and its value.
        setting: String,
        /// Why, in the kernel's words where it has any.
        reason: String,
    },
    #[error("cannot set {setting} of device `{device}`: {refusal}; {}", refusal.remedy())]
    Refused {
        device: DeviceRef,
        /// The setting and its value.
        setting: String,
        /// The kernel's reason.
        refusal: Refusal,
    },
    /// The kernel accepted the setting and did something else.
    #[error(
        "device `{device}` has {setting} {found} after {wanted} was asked for; another setting of the device may forbid it"
    )]
    Differs {
        device: DeviceRef,
        /// What was set.
        setting: String,
        /// What was asked for.
        wanted: Box<str>,
        /// What was read back.
        found: Box<str>,
    },
    /// The device could not be read back.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Why the state of a lab could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    #[error("cannot read {what} in host `{host}`: {refusal}; {}", refusal.remedy())]
    Refused {
        host: HostName,
        what: String,
        /// The kernel's reason.
        refusal: Refusal,
    },
    /// It is not there.
    #[error("host `{host}` has no {what}; something outside the lab removed it, or it was never created")]
    Absent {
        host: HostName,
        /// What was looked for.
        what: String,
    },
    /// The lab has no such thing.
    #[error("the lab has no {what}")]
    Unknown {
        /// What was asked for.
        what: String,
    },
}

/// Why the device of a host that exists already was not found.
#[derive(Debug, Error)]
pub enum FindError {
    #[error("host `{host}` has no device `{device}`; those of it are {there}")]
    NoDevice {
        host: HostName,
        device: DeviceName,
        /// The names of those that it has.
        there: String,
    },
    #[error("host `{host}` has not the address {address} there; its addresses are {there}")]
    NoAddress {
        host: HostName,
        address: Ipv4Addr,
        /// Those that it has, with their devices.
        there: String,
    },
    #[error("the device of host `{host}` has no IPv4 address; its addresses are {there}")]
    Unaddressed {
        host: HostName,
        /// Those that it has, with their devices.
        there: String,
    },
    #[error(transparent)]
    Create(#[from] CreateError),
    #[error(transparent)]
    Read(#[from] ReadError),
}
