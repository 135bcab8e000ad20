//! Bridges.

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Layer, Link, LinkDevice, LinkKind, LinkTable, Way, WrittenDevice};
use crate::{
    check::{Checker, Fits, Misfit},
    diagnosis::Problem,
    document::{As, Converter, Document, Entry, Spanned},
    lab::{Lab, UNKNOWN_MTU},
    names::{DeviceName, DeviceRef},
    resolve::{Draft, Mtus, Resolver},
};

/// A bridge in a host. Guests, pods and tunnels join it by name.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BridgeTable {
    /// The host with the bridge.
    pub(crate) host: Spanned<String>,
    /// Name of the bridge device, at most 15 bytes. Default: the table's name.
    #[schemars(length(max = 15))]
    pub(crate) device: Option<Spanned<String>>,
    /// The implementation. Default: `linux`.
    #[serde(default)]
    pub(crate) kind: BridgeKind,
    /// The host's address on the bridge. Default: none.
    pub(crate) address: Option<Spanned<As<IpNet>>>,
    /// Additional ports: devices of the same host, e.g. ends of wires. Default: none.
    #[serde(default)]
    pub(crate) ports: Vec<Spanned<String>>,
    /// MTU. Default: the smallest MTU of its wires and overlays, or 1500.
    #[schemars(range(min = 576, max = 65535))]
    pub(crate) mtu: Option<Spanned<u32>>,
}

/// An implementation of bridges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BridgeKind {
    /// The kernel's bridge.
    #[default]
    Linux,
    /// The kernel's Open vSwitch datapath. Plumb, not ovs-vswitchd, adds the flows. Tagged frames are dropped.
    Ovs,
}

impl Entry<BridgeTable> {
    pub(crate) fn device(&self) -> DeviceRef {
        let device = self.table.device.as_ref().map_or(self.name(), |device| device.get_ref());
        DeviceRef::new(&self.table.host, device)
    }

    pub(crate) fn listed(&self) -> impl Iterator<Item = DeviceName> {
        let host = self.table.host.get_ref();
        self.table.ports.iter().map(move |port| DeviceRef::named_in(host, port).device)
    }
}

impl LinkTable for Entry<BridgeTable> {
    fn noun(&self) -> Option<&'static str> {
        Some("bridge")
    }

    fn name(&self) -> &Spanned<String> {
        &self.name
    }

    fn mtu(&self) -> Option<&Spanned<u32>> {
        self.table.mtu.as_ref()
    }

    fn devices(&self, _: &Document) -> Vec<WrittenDevice> {
        let place = self.table.device.as_ref().map_or_else(|| self.name.span(), Spanned::span);
        let address = self.table.address.as_ref().map(|address| (address.0, address.span()));
        vec![WrittenDevice::new(self.device(), place).with_address(address)]
    }

    fn fits_existing(&self) -> bool {
        true
    }

    fn convert(&mut self, converter: &mut Converter) {
        self.table.address.iter_mut().for_each(|address| converter.put(address));
    }

    fn made_mtu(&self, document: &Document, mtus: &Mtus) -> Option<u32> {
        if let Some(mtu) = &self.table.mtu {
            return Some(**mtu);
        }
        let others = document.links.all().filter(|table| !table.follows_bridge());
        let ports = self.listed().chain(others.filter_map(|table| table.port_of(self)));
        let host = self.table.host.get_ref();
        let known = ports.filter_map(|port| mtus.effective(&DeviceRef::new(host, port.as_str())));
        Some(known.min().unwrap_or(Mtus::DEFAULT))
    }

    fn link(&self, resolver: &Resolver<'_>) -> Option<Link> {
        let at = self.device();
        let attached = resolver.document.links.all().filter_map(|table| table.port_of(self));
        let ports = self.listed().chain(attached).collect();
        let address = self.table.address.as_ref().map(|address| address.0);
        let (mtu, kind) = (resolver.mtu(&at), self.table.kind);
        Some(Link::Bridge(Bridge { name: self.name().to_owned(), at, kind, ports, address, mtu }))
    }

    fn references(&self, checker: &mut Checker<'_>) {
        let help = "guests, pods and overlays join the bridge by name; list only ends of wires here";
        if checker.host(&self.table.host) {
            for port in &self.table.ports {
                checker.wire_end(&self.table.host, port, help);
            }
        }
    }

    fn check(&self, document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
        let host = self.table.host.get_ref();
        let attached = document.links.all().filter_map(|table| table.port_of(self));
        for port in self.listed().chain(attached) {
            let port = DeviceRef::new(host, port.as_str());
            let addressed = draft.places.addresses.iter().find(|(at, ..)| *at == port);
            if let Some((_, _, place)) = addressed {
                let message =
                    format!("`{port}` has an address, but is a port of the bridge `{}`", self.name());
                let help = "assign the address to the bridge, and write `none` for the end of the wire";
                problems.push(Problem::new(place.clone(), message, "address of a port").help(help));
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bridge {
    pub name: String,
    pub at: DeviceRef,
    /// Renamed, because `kind` is the tag of [`Link`](crate::Link).
    #[serde(default, rename = "bridge")]
    pub kind: BridgeKind,
    /// Devices of the same host, created by other links.
    pub ports: Vec<DeviceName>,
    pub address: Option<IpNet>,
    pub mtu: u32,
}

impl Bridge {
    pub fn new(name: impl Into<String>, at: DeviceRef, ports: Vec<DeviceName>, mtu: u32) -> Self {
        Self { name: name.into(), at, kind: BridgeKind::Linux, ports, address: None, mtu }
    }

    pub fn port_devices(&self) -> impl Iterator<Item = DeviceRef> {
        self.ports.iter().map(|port| DeviceRef { host: self.at.host.clone(), device: port.clone() })
    }
}

impl LinkKind for Bridge {
    fn name(&self) -> &str {
        &self.name
    }

    fn layers(&self) -> Vec<Layer> {
        match self.kind {
            BridgeKind::Linux => vec![Layer::Bridge],
            BridgeKind::Ovs => vec![Layer::Ovs],
        }
    }

    fn devices(&self) -> Vec<LinkDevice<'_>> {
        vec![LinkDevice { at: &self.at, mtu: self.mtu, address: self.address, over: None }]
    }

    fn above(&self) -> Vec<(DeviceRef, &DeviceRef)> {
        self.port_devices().map(|port| (port, &self.at)).collect()
    }

    fn sent(&self, _: &DeviceRef) -> Vec<Way<'_>> {
        self.port_devices().map(Way::Out).collect()
    }

    fn passes_on(&self) -> bool {
        true
    }

    fn passes_tags(&self) -> bool {
        self.kind == BridgeKind::Linux
    }

    fn modules(&self) -> Vec<&'static str> {
        match self.kind {
            BridgeKind::Linux => vec![],
            BridgeKind::Ovs => vec!["openvswitch"],
        }
    }

    fn locate(&mut self, lab: &Lab) {
        if self.mtu == UNKNOWN_MTU {
            let ports = self.port_devices().filter_map(|port| lab.mtu(&port, &lab.devices));
            self.mtu = ports.min().unwrap_or(UNKNOWN_MTU);
        }
    }

    fn misfits(&self, mtus: &Fits) -> Vec<Misfit> {
        self.port_devices().filter_map(|port| mtus.differ(&self.at, &port, "bridge")).collect()
    }
}
