//! Finds the MTU that each device has at creation.

use std::collections::BTreeMap;

use super::device_settings;
use crate::{document::Document, link::LinkTable, names::DeviceRef};

const DEPTH: usize = 8;

pub(crate) struct Mtus {
    at_creation: BTreeMap<DeviceRef, u32>,
    set: BTreeMap<DeviceRef, u32>,
}

impl Mtus {
    pub(crate) const DEFAULT: u32 = 1500;

    pub(super) fn of(document: &Document) -> Self {
        let set = document.devices.iter().filter_map(|entry| {
            let (settings, _) = device_settings(&entry.table);
            Some((entry.name().parse().ok()?, settings.mtu?))
        });
        let mut mtus = Self { at_creation: BTreeMap::new(), set: set.collect() };
        for _ in 0..DEPTH {
            mtus.learn(document, document.links.all().filter(|table| !table.follows_bridge()));
        }
        mtus.learn(document, document.links.all().filter(|table| table.follows_bridge()));
        mtus
    }

    fn learn<'d>(&mut self, document: &Document, tables: impl Iterator<Item = &'d dyn LinkTable>) {
        for table in tables {
            if let Some(mtu) = table.made_mtu(document, self) {
                self.at_creation.extend(table.devices(document).into_iter().map(|device| (device.at, mtu)));
            }
        }
    }

    pub(crate) fn at_creation(&self, device: &DeviceRef) -> u32 {
        self.at_creation.get(device).copied().unwrap_or(Self::DEFAULT)
    }

    pub(crate) fn set(&self, device: &DeviceRef) -> Option<u32> {
        self.set.get(device).copied()
    }

    pub(crate) fn effective(&self, device: &DeviceRef) -> Option<u32> {
        self.set(device).or_else(|| self.at_creation.get(device).copied())
    }
}
