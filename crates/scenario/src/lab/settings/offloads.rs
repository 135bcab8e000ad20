//! Device offloads. Each of the five has a key, and other keys set several at once.

use serde::{Deserialize, Serialize};

use super::{DeviceSetting, DeviceSettings};
use crate::values::Word;

/// `None` leaves the offload unchanged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offloads {
    /// TCP segmentation: all `tx-tcp*-segmentation` features of the device.
    pub tso: Option<bool>,
    pub gso: Option<bool>,
    pub gro: Option<bool>,
    /// Transmit checksums: all `tx-checksum-*` features of the device.
    pub tx_checksum: Option<bool>,
    pub rx_checksum: Option<bool>,
}

impl Offloads {
    const NONE: Self = Self { tso: None, gso: None, gro: None, tx_checksum: None, rx_checksum: None };

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
        // With `any`, LLVM 22 ordered the branches by memory address, so builds were not reproducible.
        both.fold(false, |meet, (one, other)| meet | (one.is_some() & other.is_some()))
    }
}

static WORDS: [Word<DeviceSettings>; 7] = [
    Word::switch("offload", "All five offloads: `on`, `off`.", |on| settings(Offloads::all(on))),
    Word::switch("checksum", "Checksum offload, both directions: `on`, `off`.", |on| {
        settings(Offloads { tx_checksum: Some(on), rx_checksum: Some(on), ..Offloads::NONE })
    }),
    Word::switch("tso", "TCP segmentation offload: `on`, `off`.", |on| {
        settings(Offloads { tso: Some(on), ..Offloads::NONE })
    }),
    Word::switch("gso", "Generic segmentation offload: `on`, `off`.", |on| {
        settings(Offloads { gso: Some(on), ..Offloads::NONE })
    }),
    Word::switch("gro", "Generic receive offload: `on`, `off`.", |on| {
        settings(Offloads { gro: Some(on), ..Offloads::NONE })
    }),
    Word::switch("tx-checksum", "Transmit checksum offload: `on`, `off`.", |on| {
        settings(Offloads { tx_checksum: Some(on), ..Offloads::NONE })
    }),
    Word::switch("rx-checksum", "Receive checksum offload: `on`, `off`.", |on| {
        settings(Offloads { rx_checksum: Some(on), ..Offloads::NONE })
    }),
];

fn settings(offloads: Offloads) -> DeviceSettings {
    DeviceSettings { offloads, ..DeviceSettings::default() }
}
