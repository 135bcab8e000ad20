//! Macvlans in bridge mode on the end of a wire.

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Layer, Link, LinkDevice, LinkKind, LinkTable, Way, WrittenDevice};
use crate::{
    check::{Checker, Fits, Misfit},
    document::{As, Converter, Document, Entry, Spanned},
    names::{DeviceName, DeviceRef},
    resolve::{Mtus, Resolver},
};

/// A macvlan in bridge mode. Its device has the table's name, at most 15 bytes, and the MTU of the underlying device.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MacvlanTable {
    /// The host with the device.
    pub(crate) host: Spanned<String>,
    /// The underlying device: the end of a wire that is not a bridge port.
    pub(crate) over: Spanned<String>,
    /// Address of the device.
    pub(crate) address: Spanned<As<IpNet>>,
}

impl Entry<MacvlanTable> {
    fn at(&self) -> DeviceRef {
        DeviceRef::new(&self.table.host, self.name())
    }

    fn under(&self) -> DeviceRef {
        DeviceRef::named_in(&self.table.host, &self.table.over)
    }
}

impl LinkTable for Entry<MacvlanTable> {
    fn name(&self) -> &Spanned<String> {
        &self.name
    }

    fn devices(&self, _: &Document) -> Vec<WrittenDevice> {
        let address = &self.table.address;
        let address = Some((address.0, address.span()));
        vec![WrittenDevice::new(self.at(), self.name.span()).with_address(address)]
    }

    fn convert(&mut self, converter: &mut Converter) {
        converter.put(&mut self.table.address);
    }

    /// Uses the underlying device's MTU at creation, because settings are applied after all devices exist.
    fn made_mtu(&self, _: &Document, mtus: &Mtus) -> Option<u32> {
        Some(mtus.at_creation(&self.under()))
    }

    fn link(&self, resolver: &Resolver<'_>) -> Option<Link> {
        let (at, over) = (self.at(), self.under().device);
        let (address, mtu) = (self.table.address.0, resolver.mtu(&at));
        Some(Link::Macvlan(Macvlan { name: self.name().to_owned(), at, over, address, mtu }))
    }

    fn references(&self, checker: &mut Checker<'_>) {
        if checker.host(&self.table.host) {
            checker.free_wire_end(&self.table.host, &self.table.over);
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Macvlan {
    pub name: String,
    pub at: DeviceRef,
    pub over: DeviceName,
    pub address: IpNet,
    pub mtu: u32,
}

impl Macvlan {
    fn under(&self) -> DeviceRef {
        DeviceRef { host: self.at.host.clone(), device: self.over.clone() }
    }
}

impl LinkKind for Macvlan {
    fn name(&self) -> &str {
        &self.name
    }

    fn layers(&self) -> Vec<Layer> {
        vec![Layer::Macvlan]
    }

    fn devices(&self) -> Vec<LinkDevice<'_>> {
        let (address, over) = (Some(self.address), Some(&self.over));
        vec![LinkDevice { at: &self.at, mtu: self.mtu, address, over }]
    }

    fn above(&self) -> Vec<(DeviceRef, &DeviceRef)> {
        vec![(self.under(), &self.at)]
    }

    fn sent(&self, _: &DeviceRef) -> Vec<Way<'_>> {
        vec![Way::Out(self.under())]
    }

    fn modules(&self) -> Vec<&'static str> {
        vec!["macvlan"]
    }

    fn misfits(&self, mtus: &Fits) -> Vec<Misfit> {
        mtus.differ(&self.under(), &self.at, "underlying device").into_iter().collect()
    }
}
