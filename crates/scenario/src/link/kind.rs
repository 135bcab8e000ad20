//! What every kind of link answers, as written and as meant. Whoever goes through a lab asks this, and no kind by its name.

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

/// A link as written: an entry of its section of the document.
pub(crate) trait LinkTable {
    /// What it is called where its name is complained about; `None` where its devices have that name, which is looked at
    /// with theirs.
    fn noun(&self) -> Option<&'static str> {
        None
    }
    /// Its name.
    fn name(&self) -> &Spanned<String>;
    /// The MTU that is written for its devices.
    fn mtu(&self) -> Option<&Spanned<u32>> {
        None
    }
    /// The devices that it makes.
    fn devices(&self, document: &Document) -> Vec<WrittenDevice>;
    /// The MTU that its devices are made with, as far as it is known from the `mtus` of others.
    fn made_mtu(&self, document: &Document, mtus: &Mtus) -> Option<u32>;
    /// Whether that follows from the bridge whose port it makes, and does not count for the bridge's own.
    fn follows_bridge(&self) -> bool {
        false
    }
    /// The device that it makes a port of the bridge.
    fn port_of(&self, _bridge: &Entry<BridgeTable>) -> Option<DeviceName> {
        None
    }
    /// Whether its devices can be made on a host that exists already, in a namespace beside its own.
    fn fits_existing(&self) -> bool {
        false
    }
    /// The link as meant; `None` where a name does not resolve.
    fn link(&self, resolver: &Resolver<'_>) -> Option<Link>;
    /// Complains of what it names and is not there, or is of the wrong kind.
    fn references(&self, checker: &mut Checker<'_>);
    /// Complains of what is wrong with it in a lab whose names all resolve.
    fn check(&self, _document: &Document, _draft: &Draft, _problems: &mut Vec<Problem>) {}
    /// Complains of packets of its own that do not arrive, in a lab whose links are sound each by itself.
    fn walk(&self, _world: &World<'_>, _draft: &Draft, _problems: &mut Vec<Problem>) {}
}

/// A device that a table makes, and where that is said.
#[derive(Debug, Clone)]
pub(crate) struct WrittenDevice {
    pub(crate) at: DeviceRef,
    /// What names it.
    pub(crate) place: Range<usize>,
    /// What puts it on its network segment.
    pub(crate) segment: Range<usize>,
    /// Its address and where that stands.
    pub(crate) address: Option<(Ipv4Net, Range<usize>)>,
}

impl WrittenDevice {
    /// A device without an address, named at `place`.
    pub(crate) fn new(at: DeviceRef, place: Range<usize>) -> Self {
        Self { at, segment: place.clone(), place, address: None }
    }

    /// The same with an address, if there is one.
    pub(crate) fn with_address(self, address: Option<(Ipv4Net, Range<usize>)>) -> Self {
        Self { address, ..self }
    }
}

/// A link as meant.
pub(crate) trait LinkKind {
    /// Its name in the scenario.
    fn name(&self) -> &str;
    /// What a packet meets that passes it.
    fn layer(&self) -> Layer;
    /// The devices that it makes. They are on one network segment.
    fn devices(&self) -> Vec<LinkDevice<'_>>;
    /// The devices that hand frames up to its own, each with its own.
    fn above(&self) -> Vec<(DeviceRef, &DeviceRef)> {
        Vec::new()
    }
    /// Where a frame can go that is sent out of `out`, one of its devices.
    fn sent(&self, out: &DeviceRef) -> Vec<Way<'_>>;
    /// Whether what comes in by its device goes where it would go if it were sent.
    fn passes_on(&self) -> bool {
        false
    }
    /// The VLAN identifier that frames carry below its device.
    fn tag(&self) -> Option<u16> {
        None
    }
    /// Whether it is made by the kernel of the virtual machine `host`.
    fn is_inside(&self, _host: &HostName) -> bool {
        false
    }
    /// Takes over what hosts that exist already have told, by the lab that has it.
    fn locate(&mut self, _told: &Lab) {}
    /// What of its MTUs does not fit together, or what it stands on.
    fn misfits(&self, mtus: &Fits) -> Vec<Misfit>;
}

/// A device that a link makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkDevice<'l> {
    pub at: &'l DeviceRef,
    /// The MTU that it is made with, in bytes of IP packet.
    pub mtu: u32,
    pub address: Option<Ipv4Net>,
    /// The device of the same host that it stands on.
    pub over: Option<&'l DeviceName>,
}

impl LinkDevice<'_> {
    /// The device that it stands on.
    #[must_use]
    pub fn under(&self) -> Option<DeviceRef> {
        Some(DeviceRef { host: self.at.host.clone(), device: self.over?.clone() })
    }
}

/// Where a frame goes next.
pub(crate) enum Way<'l> {
    /// In by the device at the other end.
    In(&'l DeviceRef),
    /// Out of another device of the same host.
    Out(DeviceRef),
    /// In by the device at the other end of a tunnel.
    Tunnel {
        over: DeviceRef,
        /// The near end.
        local: Ipv4Addr,
        /// The far end.
        remote: Ipv4Addr,
        /// The device that it is over at the far end.
        far: DeviceRef,
        /// The device at the far end.
        to: &'l DeviceRef,
    },
}
