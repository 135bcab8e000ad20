//! Errors of a topology.

use std::net::IpAddr;

use scenario::{DeviceName, DeviceRef, HostName};
use thiserror::Error;

use crate::{missing_capabilities::Element, refusal::Refusal};

#[derive(Debug, Error)]
pub enum CreateError {
    #[error("cannot create {hosts} network namespaces: {source}")]
    Namespaces { hosts: usize, source: sys::Error },
    #[error("cannot open a netlink socket for {whom}: {refusal}; {}", refusal.remedy())]
    Netlink { whom: String, refusal: Refusal },
    #[error("{element} refers to {what}, which is not in the lab; run `plumb scenario check`")]
    Unknown { element: Element, what: String },
    #[error("{element} creates device `{device}`, which another part of the lab also creates; rename one")]
    Twice { element: Element, device: DeviceRef },
    #[error("{element}: cannot {operation}: {refusal}; {}", refusal.remedy())]
    Refused { element: Element, operation: String, refusal: Refusal },
    #[error(
        "device `{device}` has {what} {found} instead of {wanted}; this is a bug in Plumbline or the kernel"
    )]
    Differs { device: DeviceRef, what: &'static str, wanted: Box<str>, found: Box<str> },
    #[error(
        "virtual machine `{host}` has {setting} {found} instead of {wanted}: its monitor, the guest's driver or this \
         machine's kernel does not support it; remove the setting, or request {found}"
    )]
    NotTaken { host: HostName, setting: &'static str, wanted: Box<str>, found: Box<str> },
    #[error("host `{host}` has no device with the MAC address {mac}; it has {found}")]
    NoSuchMac { host: HostName, mac: String, found: String },
    #[error(transparent)]
    Configure(#[from] ConfigureError),
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl CreateError {
    #[must_use]
    pub fn is_permission(&self) -> bool {
        match self {
            Self::Namespaces { source, .. } => source.is_permission(),
            Self::Netlink { refusal, .. } | Self::Refused { refusal, .. } => refusal.is_permission(),
            _ => false,
        }
    }
}

#[derive(Debug, Error)]
pub enum ConfigureError {
    #[error("the lab has no device `{device}`")]
    NoDevice { device: DeviceRef },
    #[error("{element}: cannot set {setting}: {reason}; remove the setting, or use another device")]
    Unsupported { element: Element, setting: String, reason: String },
    #[error("cannot set {setting} of device `{device}`: {refusal}; {}", refusal.remedy())]
    Refused { device: DeviceRef, setting: String, refusal: Refusal },
    #[error(
        "device `{device}` has {setting} {found} instead of {wanted}; it may conflict with another setting of the device"
    )]
    Differs { device: DeviceRef, setting: String, wanted: Box<str>, found: Box<str> },
    #[error(transparent)]
    Read(#[from] ReadError),
}

#[derive(Debug, Error)]
pub enum ReadError {
    #[error("cannot read {what} in host `{host}`: {refusal}; {}", refusal.remedy())]
    Refused { host: HostName, what: String, refusal: Refusal },
    #[error("host `{host}` has no {what}; something outside the lab removed it, or it was never created")]
    Absent { host: HostName, what: String },
    #[error("the lab has no {what}")]
    Unknown { what: String },
}

#[derive(Debug, Error)]
pub enum FindError {
    #[error("host `{host}` has no device `{device}`; its devices are {existing}")]
    NoDevice { host: HostName, device: DeviceName, existing: String },
    #[error("host `{host}` does not have the address {address}; its addresses are {existing}")]
    NoAddress { host: HostName, address: IpAddr, existing: String },
    #[error(
        "the device of host `{host}` has no address besides link-local ones; its addresses are {existing}"
    )]
    Unaddressed { host: HostName, existing: String },
    #[error(transparent)]
    Create(#[from] CreateError),
    #[error(transparent)]
    Read(#[from] ReadError),
}
