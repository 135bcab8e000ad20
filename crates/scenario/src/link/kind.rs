//! The traits of written and resolved links, for code that handles all kinds.

use std::{net::IpAddr, ops::Range};

use ipnet::IpNet;

use super::{Layer, Link};
use crate::{
    check::{Checker, Fits, Misfit},
    diagnosis::Problem,
    document::{BridgeTable, Converter, Document, Entry, Spanned},
    family::Family,
    lab::Lab,
    names::{DeviceName, DeviceRef, HostName},
    packet_walk::World,
    resolve::{Draft, Mtus, Resolver},
};

pub(crate) trait LinkTable {
    /// Returns the noun for messages about the link's name, or `None` for a device name. Device names are checked
    /// elsewhere.
    fn noun(&self) -> Option<&'static str> {
        None
    }
    fn name(&self) -> &Spanned<String>;
    fn mtu(&self) -> Option<&Spanned<u32>> {
        None
    }
    fn underlay(&self) -> Option<&Spanned<Family>> {
        None
    }
    fn devices(&self, document: &Document) -> Vec<WrittenDevice>;
    fn convert(&mut self, converter: &mut Converter);
    fn made_mtu(&self, document: &Document, mtus: &Mtus) -> Option<u32>;
    fn follows_bridge(&self) -> bool {
        false
    }
    fn port_of(&self, _bridge: &Entry<BridgeTable>) -> Option<DeviceName> {
        None
    }
    /// Whether the link can be created on an existing host. There, its devices are in a separate namespace.
    fn fits_existing(&self) -> bool {
        false
    }
    fn link(&self, resolver: &Resolver<'_>) -> Option<Link>;
    fn references(&self, checker: &mut Checker<'_>);
    fn check(&self, _document: &Document, _draft: &Draft, _problems: &mut Vec<Problem>) {}
    /// Reports packets sent by the link itself that do not arrive. Runs after all links have passed their checks.
    fn walk(&self, _world: &World<'_>, _draft: &Draft, _problems: &mut Vec<Problem>) {}
}

#[derive(Debug, Clone)]
pub(crate) struct WrittenDevice {
    pub(crate) at: DeviceRef,
    pub(crate) place: Range<usize>,
    pub(crate) segment: Range<usize>,
    pub(crate) address: Option<(IpNet, Range<usize>)>,
}

impl WrittenDevice {
    pub(crate) fn new(at: DeviceRef, place: Range<usize>) -> Self {
        Self { at, segment: place.clone(), place, address: None }
    }

    pub(crate) fn with_address(self, address: Option<(IpNet, Range<usize>)>) -> Self {
        Self { address, ..self }
    }
}

pub(crate) trait LinkKind {
    fn name(&self) -> &str;
    fn layers(&self) -> Vec<Layer>;
    fn devices(&self) -> Vec<LinkDevice<'_>>;
    /// Returns pairs of devices. The second device is on top of the first and receives its frames.
    fn above(&self) -> Vec<(DeviceRef, &DeviceRef)> {
        Vec::new()
    }
    fn sent(&self, out: &DeviceRef) -> Vec<Way<'_>>;
    fn passes_on(&self) -> bool {
        false
    }
    fn passes_tags(&self) -> bool {
        true
    }
    fn tag(&self) -> Option<u16> {
        None
    }
    fn is_inside(&self, _host: &HostName) -> bool {
        false
    }
    /// Returns the kernel modules that the link needs, except those that every lab needs.
    fn modules(&self) -> Vec<&'static str> {
        Vec::new()
    }
    fn locate(&mut self, _lab: &Lab) {}
    fn misfits(&self, mtus: &Fits) -> Vec<Misfit>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkDevice<'l> {
    pub at: &'l DeviceRef,
    pub mtu: u32,
    pub address: Option<IpNet>,
    pub over: Option<&'l DeviceName>,
}

impl LinkDevice<'_> {
    #[must_use]
    pub fn under(&self) -> Option<DeviceRef> {
        Some(DeviceRef { host: self.at.host.clone(), device: self.over?.clone() })
    }
}

pub(crate) enum Way<'l> {
    In(&'l DeviceRef),
    Out(DeviceRef),
    Tunnel { over: DeviceRef, local: IpAddr, remote: IpAddr, far: DeviceRef, to: &'l DeviceRef },
}
