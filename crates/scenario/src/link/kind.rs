//! The interfaces of a link, as written and as resolved, for code that handles all kinds.

use std::{net::Ipv4Addr, ops::Range};

use ipnet::Ipv4Net;
use toml::Spanned;

use super::{Layer, Link};
use crate::{
    check::{Checker, Fits, Misfit},
    diagnosis::Problem,
    document::{BridgeTable, Document, Entry},
    lab::Lab,
    names::{DeviceName, DeviceRef, HostName},
    packet_walk::World,
    resolve::{Draft, Mtus, Resolver},
};

pub(crate) trait LinkTable {
    /// The noun for messages about its name; `None` if the name is also that of its devices, which are checked
    /// separately.
    fn noun(&self) -> Option<&'static str> {
        None
    }
    fn name(&self) -> &Spanned<String>;
    fn mtu(&self) -> Option<&Spanned<u32>> {
        None
    }
    fn devices(&self, document: &Document) -> Vec<WrittenDevice>;
    /// The MTU at creation, if it can be derived from `mtus`.
    fn made_mtu(&self, document: &Document, mtus: &Mtus) -> Option<u32>;
    /// Whether that MTU follows from its bridge.
    fn follows_bridge(&self) -> bool {
        false
    }
    /// The device that it adds to the bridge as a port.
    fn port_of(&self, _bridge: &Entry<BridgeTable>) -> Option<DeviceName> {
        None
    }
    /// Whether its devices can be created in a separate namespace on an existing host.
    fn fits_existing(&self) -> bool {
        false
    }
    /// `None` if a name does not resolve.
    fn link(&self, resolver: &Resolver<'_>) -> Option<Link>;
    fn references(&self, checker: &mut Checker<'_>);
    /// Reports problems in a lab in which all names resolve.
    fn check(&self, _document: &Document, _draft: &Draft, _problems: &mut Vec<Problem>) {}
    /// Reports packets sent by the link itself that do not arrive. All links have passed their own checks.
    fn walk(&self, _world: &World<'_>, _draft: &Draft, _problems: &mut Vec<Problem>) {}
}

#[derive(Debug, Clone)]
pub(crate) struct WrittenDevice {
    pub(crate) at: DeviceRef,
    pub(crate) place: Range<usize>,
    /// Where it joins its network segment.
    pub(crate) segment: Range<usize>,
    pub(crate) address: Option<(Ipv4Net, Range<usize>)>,
}

impl WrittenDevice {
    pub(crate) fn new(at: DeviceRef, place: Range<usize>) -> Self {
        Self { at, segment: place.clone(), place, address: None }
    }

    pub(crate) fn with_address(self, address: Option<(Ipv4Net, Range<usize>)>) -> Self {
        Self { address, ..self }
    }
}

pub(crate) trait LinkKind {
    fn name(&self) -> &str;
    fn layer(&self) -> Layer;
    /// All devices, which share a network segment.
    fn devices(&self) -> Vec<LinkDevice<'_>>;
    /// Pairs of a device and the device on top of it that receives its frames.
    fn above(&self) -> Vec<(DeviceRef, &DeviceRef)> {
        Vec::new()
    }
    /// Where a frame can go when it is sent from `out`.
    fn sent(&self, out: &DeviceRef) -> Vec<Way<'_>>;
    /// Whether a received frame is forwarded like a sent one.
    fn passes_on(&self) -> bool {
        false
    }
    /// The VLAN ID of frames below its device.
    fn tag(&self) -> Option<u16> {
        None
    }
    fn is_inside(&self, _host: &HostName) -> bool {
        false
    }
    fn locate(&mut self, _lab: &Lab) {}
    /// MTU mismatches within the link or with the devices under it.
    fn misfits(&self, mtus: &Fits) -> Vec<Misfit>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkDevice<'l> {
    pub at: &'l DeviceRef,
    /// MTU at creation, in bytes of IP packet.
    pub mtu: u32,
    pub address: Option<Ipv4Net>,
    /// The device under it, in the same host.
    pub over: Option<&'l DeviceName>,
}

impl LinkDevice<'_> {
    #[must_use]
    pub fn under(&self) -> Option<DeviceRef> {
        Some(DeviceRef { host: self.at.host.clone(), device: self.over?.clone() })
    }
}

/// The next step of a frame.
pub(crate) enum Way<'l> {
    /// Received by the device at the other end.
    In(&'l DeviceRef),
    /// Sent by another device of the same host.
    Out(DeviceRef),
    Tunnel {
        over: DeviceRef,
        local: Ipv4Addr,
        remote: Ipv4Addr,
        /// The device under the tunnel at the far end.
        far: DeviceRef,
        to: &'l DeviceRef,
    },
}
