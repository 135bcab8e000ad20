//! Offloads of a device: five switches, each with a word of its own, and words for several of them at once.

use serde::{Deserialize, Serialize};

use super::{DeviceSetting, DeviceSettings};
use crate::values::{Values, Word};

/// Offloads, on or off; `None` is left alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offloads {
    /// TCP segmentation, all of the device's `tx-tcp*-segmentation` features.
    pub tso: Option<bool>,
    /// Generic segmentation.
    pub gso: Option<bool>,
    /// Generic receive offload.
    pub gro: Option<bool>,
    /// Transmit checksums, all of the device's `tx-checksum-*` features that it has.
    pub tx_checksum: Option<bool>,
    /// Receive checksums.
    pub rx_checksum: Option<bool>,
}

impl Offloads {
    /// None of them is said to be anything.
    const NONE: Self = Self { tso: None, gso: None, gro: None, tx_checksum: None, rx_checksum: None };

    /// Every offload set to `on`.
    #[must_use]
    pub fn all(on: bool) -> Self {
        let some = Some(on);
        Self { tso: some, gso: some, gro: some, tx_checksum: some, rx_checksum: some }
    }

    fn each(self) -> [Option<bool>; 5] {
        [self.tso, self.gso, self.gro, self.tx_checksum, self.rx_checksum]
    }
}

pub(super) struct Switches;

impl DeviceSetting for Switches {
    fn noun(&self) -> &'static str {
        "offloads"
    }

    fn words(&self) -> &'static [Word<DeviceSettings>] {
        &WORDS
    }

    fn put(&self, settings: &mut DeviceSettings, other: &DeviceSettings) {
        let (own, other) = (settings.offloads, other.offloads);
        settings.offloads = Offloads {
            tso: other.tso.or(own.tso),
            gso: other.gso.or(own.gso),
            gro: other.gro.or(own.gro),
            tx_checksum: other.tx_checksum.or(own.tx_checksum),
            rx_checksum: other.rx_checksum.or(own.rx_checksum),
        };
    }

    fn take_out(&self, settings: &mut DeviceSettings) {
        settings.offloads = Offloads::NONE;
    }

    fn meet(&self, one: &DeviceSettings, other: &DeviceSettings) -> bool {
        let both = one.offloads.each().into_iter().zip(other.offloads.each());
        // LLVM 22 orders the branches of `any` by where they lie in its memory: no two builds were the same.
        both.fold(false, |meet, (one, other)| meet | (one.is_some() & other.is_some()))
    }
}

static WORDS: [Word<DeviceSettings>; 7] = [
    word("offload", "All five offloads of devices at once: `on`, `off`.", |on| of(Offloads::all(on))),
    word("checksum", "Checksum offload of devices, both ways: `on`, `off`.", |on| {
        of(Offloads { tx_checksum: Some(on), rx_checksum: Some(on), ..Offloads::NONE })
    }),
    word("tso", "TCP segmentation offload of devices: `on`, `off`.", |on| {
        of(Offloads { tso: Some(on), ..Offloads::NONE })
    }),
    word("gso", "Generic segmentation offload of devices: `on`, `off`.", |on| {
        of(Offloads { gso: Some(on), ..Offloads::NONE })
    }),
    word("gro", "Generic receive offload of devices: `on`, `off`.", |on| {
        of(Offloads { gro: Some(on), ..Offloads::NONE })
    }),
    word("tx-checksum", "Checksum offload of what devices send: `on`, `off`.", |on| {
        of(Offloads { tx_checksum: Some(on), ..Offloads::NONE })
    }),
    word("rx-checksum", "Checksum offload of what devices receive: `on`, `off`.", |on| {
        of(Offloads { rx_checksum: Some(on), ..Offloads::NONE })
    }),
];

const fn word(
    word: &'static str,
    about: &'static str,
    set: fn(bool) -> DeviceSettings,
) -> Word<DeviceSettings> {
    Word { word, about, values: Values::Switch(set) }
}

fn of(offloads: Offloads) -> DeviceSettings {
    DeviceSettings { offloads, ..DeviceSettings::default() }
}
