//! Ring sizes.

use serde::{Deserialize, Serialize};

use super::{DeviceSetting, DeviceSettings};
use crate::{
    diagnosis::Problem,
    lab::Lab,
    names::DeviceRef,
    values::{Label, Values, Word},
    vm::VirtioNet,
};

/// With fewer slots than the largest packet needs (`MAX_SKB_FRAGS` plus 2), a driver that has stopped its queue never
/// restarts it. The size of a virtio ring is a power of two (VIRTIO 1.2, section 2.7), up to 32768.
const FEWEST: u32 = 32;
const MOST: u32 = 32_768;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingSizes {
    pub rx: Option<u32>,
    pub tx: Option<u32>,
}

pub(super) struct Rings;

impl DeviceSetting for Rings {
    fn noun(&self) -> &'static str {
        "ring size"
    }

    fn words(&self) -> &'static [Word<DeviceSettings>] {
        &WORDS
    }

    fn put(&self, settings: &mut DeviceSettings, other: &DeviceSettings) {
        let (own, other) = (settings.rings, other.rings);
        settings.rings = RingSizes { rx: other.rx.or(own.rx), tx: other.tx.or(own.tx) };
    }

    fn take_out(&self, settings: &mut DeviceSettings) {
        settings.rings = RingSizes::default();
    }

    fn meet(&self, one: &DeviceSettings, other: &DeviceSettings) -> bool {
        let (one, other) = (one.rings, other.rings);
        (one.rx.is_some() && other.rx.is_some()) || (one.tx.is_some() && other.tx.is_some())
    }

    /// Enlarges the receive ring at creation, because the guest cannot exceed the monitor's setting. QEMU does not
    /// support larger transmit rings for tap devices.
    fn make_room(&self, lab: &mut Lab, device: &DeviceRef, settings: &DeviceSettings) {
        let [usual, .., most] = VirtioNet::RINGS;
        let Some(rx) = settings.rings.rx.filter(|rx| *rx > usual) else { return };
        let host = lab.hosts.iter_mut().find(|host| host.name == device.host);
        let vm = host.and_then(|host| host.vm.as_mut()).filter(|vm| vm.monitor.sizes_rings());
        if let Some(vm) = vm {
            vm.virtio.rx_ring = vm.virtio.rx_ring.max(Some(rx.min(most)));
        }
    }
}

static WORDS: [Word<DeviceSettings>; 3] = [
    word("ring-size", "Entries in receive and transmit rings: powers of two from 32.", |label| {
        read(label).map(|size| settings(RingSizes { rx: Some(size), tx: Some(size) }))
    }),
    word("rx-ring", "Entries in receive rings: powers of two from 32.", |label| {
        read(label).map(|size| settings(RingSizes { rx: Some(size), tx: None }))
    }),
    word("tx-ring", "Entries in transmit rings: powers of two from 32.", |label| {
        read(label).map(|size| settings(RingSizes { rx: None, tx: Some(size) }))
    }),
];

const fn word(
    word: &'static str,
    about: &'static str,
    read: fn(&Label<'_>) -> Result<DeviceSettings, Problem>,
) -> Word<DeviceSettings> {
    Word { word, about, values: Values::Texts(&["256", "512", "1024"], read) }
}

fn read(label: &Label<'_>) -> Result<u32, Problem> {
    let size = label.text.parse().ok();
    let fits = |size: &u32| size.is_power_of_two() && (FEWEST..=MOST).contains(size);
    size.filter(fits).ok_or_else(|| label.invalid(format!("use a power of two from {FEWEST} to {MOST}")))
}

fn settings(rings: RingSizes) -> DeviceSettings {
    DeviceSettings { rings, ..DeviceSettings::default() }
}
