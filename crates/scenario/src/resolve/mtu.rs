//! MTU of each device at creation: as written, derived from the devices under it, or the default.

use std::collections::BTreeMap;

use super::device_settings;
use crate::{document::Document, link::LinkTable, names::DeviceRef};

/// Maximum nesting of links for derived MTUs.
const DEPTH: usize = 8;

pub(crate) struct Mtus {
    made: BTreeMap<DeviceRef, u32>,
    set: BTreeMap<DeviceRef, u32>,
}

impl Mtus {
    pub(crate) const DEFAULT: u32 = 1500;

    pub(super) fn of(document: &Document) -> Self {
        let set = document.devices.iter().filter_map(|entry| {
            let (settings, _) = device_settings(&entry.table);
            Some((entry.name().parse().ok()?, settings.mtu?))
        });
        let mut mtus = Self { made: BTreeMap::new(), set: set.collect() };
        for _ in 0..DEPTH {
            mtus.learn(document, document.links.all().filter(|table| !table.follows_bridge()));
        }
        mtus.learn(document, document.links.all().filter(|table| table.follows_bridge()));
        mtus
    }

    fn learn<'d>(&mut self, document: &Document, tables: impl Iterator<Item = &'d dyn LinkTable>) {
        for table in tables {
            if let Some(mtu) = table.made_mtu(document, self) {
                self.made.extend(table.devices(document).into_iter().map(|device| (device.at, mtu)));
            }
        }
    }

    /// At creation.
    pub(crate) fn made(&self, device: &DeviceRef) -> u32 {
        self.made.get(device).copied().unwrap_or(Self::DEFAULT)
    }

    /// From a device setting.
    pub(crate) fn set(&self, device: &DeviceRef) -> Option<u32> {
        self.set.get(device).copied()
    }

    /// The final MTU, if known yet.
    pub(crate) fn effective(&self, device: &DeviceRef) -> Option<u32> {
        self.set(device).or_else(|| self.made.get(device).copied())
    }
}
