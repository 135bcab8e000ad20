//! The device pair of a guest or pod in a namespace. Virtual machines have a `Nic` instead.

use std::net::IpAddr;

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BridgeTable, Layer, Link, LinkDevice, LinkKind, LinkTable, Nic, PairKind, Way, WrittenDevice};
use crate::{
    check::{Checker, Fits, Misfit},
    diagnosis::Problem,
    document::{As, Converter, Document, Entry, Spanned},
    lab::{Lab, UNKNOWN_MTU},
    names::{DeviceName, DeviceRef},
    resolve::{Mtus, Resolver, vm_of},
};

const DEVICE: &str = "eth0";

/// A guest or pod on a bridge. Its device is `eth0`; the bridge port is named after the guest.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GuestTable {
    /// The bridge to attach to.
    pub(crate) bridge: Spanned<String>,
    /// Address of the guest's `eth0`.
    pub(crate) address: Spanned<As<IpNet>>,
    /// The kind of virtual machine, one of `vms`. Default: none (a network namespace).
    pub(crate) vm: Option<Spanned<String>>,
    /// Kind of device pair. Default: `veth`.
    pub(crate) pair: Option<Spanned<PairKind>>,
    /// Next hop of the default route. Default: no default route.
    pub(crate) gateway: Option<Spanned<As<IpAddr>>>,
    /// MTU of `eth0` and of the bridge port. Default: the bridge's.
    #[schemars(range(min = 576, max = 65535))]
    pub(crate) mtu: Option<Spanned<u32>>,
}

impl Entry<GuestTable> {
    fn device(&self) -> DeviceRef {
        DeviceRef::new(self.name(), DEVICE)
    }

    fn pair(&self) -> PairKind {
        self.table.pair.as_deref().copied().unwrap_or_default()
    }

    fn port(&self, document: &Document) -> Option<DeviceRef> {
        let bridge = document.links.bridges.get(&self.table.bridge)?;
        Some(DeviceRef::new(&bridge.table.host, self.name()))
    }
}

impl LinkTable for Entry<GuestTable> {
    fn name(&self) -> &Spanned<String> {
        &self.name
    }

    fn mtu(&self) -> Option<&Spanned<u32>> {
        self.table.mtu.as_ref()
    }

    fn devices(&self, document: &Document) -> Vec<WrittenDevice> {
        let Some(port) = self.port(document) else { return Vec::new() };
        let address = &self.table.address;
        let address = Some((address.0, address.span()));
        let device = |at| WrittenDevice::new(at, self.name.span());
        vec![device(self.device()).with_address(address), device(port)]
    }

    fn convert(&mut self, converter: &mut Converter) {
        converter.put(&mut self.table.address);
        self.table.gateway.iter_mut().for_each(|gateway| converter.put(gateway));
    }

    fn made_mtu(&self, document: &Document, mtus: &Mtus) -> Option<u32> {
        let bridge = document.links.bridges.get(&self.table.bridge)?;
        let inherited = mtus.effective(&bridge.device()).unwrap_or(Mtus::DEFAULT);
        Some(self.table.mtu.as_ref().map_or(inherited, |mtu| **mtu))
    }

    fn follows_bridge(&self) -> bool {
        true
    }

    fn fits_existing(&self) -> bool {
        self.table.vm.is_none()
    }

    fn port_of(&self, bridge: &Entry<BridgeTable>) -> Option<DeviceName> {
        (self.table.bridge.get_ref() == bridge.name()).then(|| DeviceName::new(self.name()))
    }

    fn link(&self, resolver: &Resolver<'_>) -> Option<Link> {
        let (at, port) = (self.device(), self.port(resolver.document)?);
        let (name, address, mtu) = (self.name().to_owned(), self.table.address.0, resolver.mtu(&at));
        if self.table.vm.is_none() {
            return Some(Link::Attachment(Attachment { name, at, port, pair: self.pair(), address, mtu }));
        }
        let queues = vm_of(resolver.document, self).map_or(1, |vm| vm.queues);
        Some(Link::Nic(Nic { name, at, port, address, mtu, queues }))
    }

    fn references(&self, checker: &mut Checker<'_>) {
        checker.named("bridge", &self.table.bridge, &checker.document.links.bridges);
        if let Some(vm) = &self.table.vm {
            checker.named("vm", vm, &checker.document.vms);
            if let Some(pair) = &self.table.pair {
                let message =
                    format!("the virtual machine `{}` has a tap device instead of a pair", self.name());
                checker.problems.push(Problem::new(pair.span(), message, "no effect").help("remove it"));
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    pub name: String,
    pub at: DeviceRef,
    pub port: DeviceRef,
    #[serde(default)]
    pub pair: PairKind,
    pub address: IpNet,
    pub mtu: u32,
}

impl LinkKind for Attachment {
    fn name(&self) -> &str {
        &self.name
    }

    fn layers(&self) -> Vec<Layer> {
        vec![self.pair.layer(Layer::Veth)]
    }

    fn modules(&self) -> Vec<&'static str> {
        self.pair.modules()
    }

    fn devices(&self) -> Vec<LinkDevice<'_>> {
        let device = |at, address| LinkDevice { at, mtu: self.mtu, address, over: None };
        vec![device(&self.at, Some(self.address)), device(&self.port, None)]
    }

    fn sent(&self, out: &DeviceRef) -> Vec<Way<'_>> {
        vec![Way::In(if *out == self.at { &self.port } else { &self.at })]
    }

    fn locate(&mut self, lab: &Lab) {
        if self.mtu == UNKNOWN_MTU {
            let mut above = lab.links.iter().flat_map(|link| link.kind().above());
            let bridge = above.find(|(port, _)| *port == self.port);
            let mtu = bridge.and_then(|(_, bridge)| lab.mtu(bridge, &lab.devices));
            self.mtu = mtu.unwrap_or(UNKNOWN_MTU);
        }
    }

    fn misfits(&self, mtus: &Fits) -> Vec<Misfit> {
        mtus.differ(&self.at, &self.port, "far end").into_iter().collect()
    }
}
