//! The MTU of a device: the maximum size of an IP packet, in bytes.

use std::ops::RangeInclusive;

use super::{DeviceSetting, DeviceSettings};
use crate::values::{Values, Word};

/// IPv4 hosts must accept packets of at least 576 bytes (RFC 791).
pub(crate) const RANGE: RangeInclusive<u32> = 576..=65_535;

pub(super) struct Mtu;

impl DeviceSetting for Mtu {
    fn noun(&self) -> &'static str {
        "MTU"
    }

    fn words(&self) -> &'static [Word<DeviceSettings>] {
        const { &[WORD] }
    }

    fn put(&self, settings: &mut DeviceSettings, other: &DeviceSettings) {
        settings.mtu = other.mtu.or(settings.mtu);
    }

    fn take_out(&self, settings: &mut DeviceSettings) {
        settings.mtu = None;
    }
}

const WORD: Word<DeviceSettings> = Word {
    word: "mtu",
    about: "MTU of the devices, if it differs from that of their wire, bridge or overlay.",
    values: Values::Numbers {
        range: RANGE,
        describe: |mtu| format!("an MTU of {mtu} is"),
        set: |mtu| DeviceSettings { mtu: Some(mtu), ..DeviceSettings::default() },
    },
};
