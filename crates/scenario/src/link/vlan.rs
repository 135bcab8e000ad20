//! VLANs (IEEE 802.1Q): devices that send tagged frames over the end of a wire.

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BridgeTable, Layer, Link, LinkDevice, LinkKind, LinkTable, Way, WrittenDevice};
use crate::{
    check::{Checker, Fits, Misfit},
    diagnosis::Problem,
    document::{As, Converter, Document, Entry, Spanned},
    names::{DeviceName, DeviceRef},
    resolve::{Draft, Mtus, Resolver},
};

/// A VLAN device (IEEE 802.1Q). It has the table's name, at most 15 bytes, the MTU of the underlying device, and
/// either an address or a bridge.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VlanTable {
    /// The host with the device.
    pub(crate) host: Spanned<String>,
    /// The underlying device: the end of a wire that is not a bridge port.
    pub(crate) over: Spanned<String>,
    /// The VLAN ID.
    #[schemars(range(min = 1, max = 4094))]
    pub(crate) id: Spanned<u16>,
    /// Address of the device, for routing packets into the VLAN.
    pub(crate) address: Option<Spanned<As<IpNet>>>,
    /// The bridge to join, for bridging frames into the VLAN.
    pub(crate) bridge: Option<Spanned<String>>,
}

impl Entry<VlanTable> {
    fn at(&self) -> DeviceRef {
        DeviceRef::new(&self.table.host, self.name())
    }

    fn under(&self) -> DeviceRef {
        DeviceRef::named_in(&self.table.host, &self.table.over)
    }
}

impl LinkTable for Entry<VlanTable> {
    fn name(&self) -> &Spanned<String> {
        &self.name
    }

    fn devices(&self, _: &Document) -> Vec<WrittenDevice> {
        let address = self.table.address.as_ref().map(|address| (address.0, address.span()));
        vec![WrittenDevice::new(self.at(), self.name.span()).with_address(address)]
    }

    fn convert(&mut self, converter: &mut Converter) {
        self.table.address.iter_mut().for_each(|address| converter.put(address));
    }

    /// Uses the underlying device's MTU at creation, because settings are applied after all devices exist.
    fn made_mtu(&self, _: &Document, mtus: &Mtus) -> Option<u32> {
        Some(mtus.at_creation(&self.under()))
    }

    fn port_of(&self, bridge: &Entry<BridgeTable>) -> Option<DeviceName> {
        let named = self.table.bridge.as_ref()?;
        (named.get_ref() == bridge.name()).then(|| DeviceName::new(self.name()))
    }

    fn link(&self, resolver: &Resolver<'_>) -> Option<Link> {
        let (at, over) = (self.at(), self.under().device);
        let (id, mtu) = (*self.table.id, resolver.mtu(&at));
        let address = self.table.address.as_ref().map(|address| address.0);
        Some(Link::Vlan(Vlan { name: self.name().to_owned(), at, over, id, address, mtu }))
    }

    fn references(&self, checker: &mut Checker<'_>) {
        let table = &self.table;
        if checker.host(&table.host) {
            checker.free_wire_end(&table.host, &table.over);
            let (who, host) = (format!("the VLAN `{}`", self.name()), &table.host);
            checker.address_or_bridge(
                (&who, &self.name),
                host,
                table.address.is_some(),
                table.bridge.as_ref(),
            );
        }
    }

    fn check(&self, document: &Document, _: &Draft, problems: &mut Vec<Problem>) {
        let id = &self.table.id;
        if !(1..4095).contains(&**id) {
            let message = format!("{id} is not a valid VLAN ID");
            problems.push(Problem::new(id.span(), message, "out of range").help("use 1 to 4094"));
        }
        let mut before = document.links.vlans.iter().take_while(|other| other.name() != self.name());
        let duplicate = |other: &&Entry<VlanTable>| {
            other.under() == self.under() && other.table.id.get_ref() == id.get_ref()
        };
        if let Some(other) = before.find(duplicate) {
            let message = format!("VLAN {} on `{}` is already used by `{}`", id, self.under(), other.name());
            problems.push(Problem::new(id.span(), message, "duplicate VLAN").help("use another VLAN ID"));
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vlan {
    pub name: String,
    pub at: DeviceRef,
    pub over: DeviceName,
    pub id: u16,
    pub address: Option<IpNet>,
    pub mtu: u32,
}

impl Vlan {
    fn under(&self) -> DeviceRef {
        DeviceRef { host: self.at.host.clone(), device: self.over.clone() }
    }
}

impl LinkKind for Vlan {
    fn name(&self) -> &str {
        &self.name
    }

    fn layers(&self) -> Vec<Layer> {
        vec![Layer::Vlan]
    }

    fn devices(&self) -> Vec<LinkDevice<'_>> {
        vec![LinkDevice { at: &self.at, mtu: self.mtu, address: self.address, over: Some(&self.over) }]
    }

    fn above(&self) -> Vec<(DeviceRef, &DeviceRef)> {
        vec![(self.under(), &self.at)]
    }

    fn sent(&self, _: &DeviceRef) -> Vec<Way<'_>> {
        vec![Way::Out(self.under())]
    }

    fn tag(&self) -> Option<u16> {
        Some(self.id)
    }

    fn misfits(&self, mtus: &Fits) -> Vec<Misfit> {
        mtus.differ(&self.under(), &self.at, "underlying device").into_iter().collect()
    }
}
