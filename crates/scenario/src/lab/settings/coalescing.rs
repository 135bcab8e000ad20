//! Coalescing of a device's interrupts: for how long, and for how many packets, it waits before it interrupts. The words
//! are ethtool's.

use std::ops::RangeInclusive;

use samples::Coalescing;

use super::{DeviceSetting, DeviceSettings};
use crate::values::{Values, Word};

/// Drivers have limits of their own, which are told when they refuse.
const RANGE: RangeInclusive<u32> = 0..=65_535;

pub(super) struct Interrupts;

impl DeviceSetting for Interrupts {
    fn noun(&self) -> &'static str {
        "coalescing"
    }

    fn words(&self) -> &'static [Word<DeviceSettings>] {
        &WORDS
    }

    fn put(&self, settings: &mut DeviceSettings, other: &DeviceSettings) {
        settings.coalescing = other.coalescing.or(settings.coalescing);
    }

    fn take_out(&self, settings: &mut DeviceSettings) {
        settings.coalescing = Coalescing::NONE;
    }

    fn meet(&self, one: &DeviceSettings, other: &DeviceSettings) -> bool {
        let pairs = one.coalescing.each().into_iter().zip(other.coalescing.each());
        pairs.into_iter().any(|((_, one), (_, other))| one.is_some() && other.is_some())
    }
}

static WORDS: [Word<DeviceSettings>; 6] = [
    switch(
        "adaptive-rx",
        "Whether drivers choose the coalescing of what devices receive: `on`, `off`.",
        |on| of(Coalescing { adaptive_rx: Some(on), ..Coalescing::NONE }),
    ),
    switch("adaptive-tx", "Whether drivers choose the coalescing of what devices sent: `on`, `off`.", |on| {
        of(Coalescing { adaptive_tx: Some(on), ..Coalescing::NONE })
    }),
    Word {
        word: "rx-usecs",
        about: "How long devices wait with an interrupt for what they receive: whole microseconds.",
        values: Values::Numbers {
            range: RANGE,
            said: |time| format!("{time} microseconds are"),
            set: |time| of(Coalescing { rx_usecs: Some(time), ..Coalescing::NONE }),
        },
    },
    Word {
        word: "rx-frames",
        about: "How many packets devices receive before they interrupt: whole numbers.",
        values: Values::Numbers {
            range: RANGE,
            said: |frames| format!("{frames} packets are"),
            set: |frames| of(Coalescing { rx_frames: Some(frames), ..Coalescing::NONE }),
        },
    },
    Word {
        word: "tx-usecs",
        about: "How long devices wait with an interrupt for what they sent: whole microseconds.",
        values: Values::Numbers {
            range: RANGE,
            said: |time| format!("{time} microseconds are"),
            set: |time| of(Coalescing { tx_usecs: Some(time), ..Coalescing::NONE }),
        },
    },
    Word {
        word: "tx-frames",
        about: "How many packets devices send before they interrupt: whole numbers.",
        values: Values::Numbers {
            range: RANGE,
            said: |frames| format!("{frames} packets are"),
            set: |frames| of(Coalescing { tx_frames: Some(frames), ..Coalescing::NONE }),
        },
    },
];

const fn switch(
    word: &'static str,
    about: &'static str,
    set: fn(bool) -> DeviceSettings,
) -> Word<DeviceSettings> {
    Word { word, about, values: Values::Switch(set) }
}

fn of(coalescing: Coalescing) -> DeviceSettings {
    DeviceSettings { coalescing, ..DeviceSettings::default() }
}
