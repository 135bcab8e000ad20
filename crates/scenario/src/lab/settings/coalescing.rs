//! Interrupt coalescing. The keys are the same as in ethtool.

use std::ops::RangeInclusive;

use samples::Coalescing;

use super::{DeviceSetting, DeviceSettings};
use crate::values::{Values, Word};

/// Drivers may have tighter limits. Applying the setting then fails with the driver's error.
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
    Word::switch("adaptive-rx", "Whether the driver adapts receive coalescing: `on`, `off`.", |on| {
        settings(Coalescing { adaptive_rx: Some(on), ..Coalescing::NONE })
    }),
    Word::switch("adaptive-tx", "Whether the driver adapts transmit coalescing: `on`, `off`.", |on| {
        settings(Coalescing { adaptive_tx: Some(on), ..Coalescing::NONE })
    }),
    number(
        "rx-usecs",
        "Maximum delay of a receive interrupt, in whole microseconds.",
        microseconds,
        |time| settings(Coalescing { rx_usecs: Some(time), ..Coalescing::NONE }),
    ),
    number("rx-frames", "Maximum packets received before an interrupt.", packets, |frames| {
        settings(Coalescing { rx_frames: Some(frames), ..Coalescing::NONE })
    }),
    number(
        "tx-usecs",
        "Maximum delay of a transmit interrupt, in whole microseconds.",
        microseconds,
        |time| settings(Coalescing { tx_usecs: Some(time), ..Coalescing::NONE }),
    ),
    number("tx-frames", "Maximum packets sent before an interrupt.", packets, |frames| {
        settings(Coalescing { tx_frames: Some(frames), ..Coalescing::NONE })
    }),
];

const fn number(
    word: &'static str,
    about: &'static str,
    describe: fn(u32) -> String,
    set: fn(u32) -> DeviceSettings,
) -> Word<DeviceSettings> {
    Word { word, about, values: Values::Numbers { range: RANGE, describe, set } }
}

fn microseconds(time: u32) -> String {
    format!("{time} microseconds are")
}

fn packets(frames: u32) -> String {
    format!("{frames} packets are")
}

fn settings(coalescing: Coalescing) -> DeviceSettings {
    DeviceSettings { coalescing, ..DeviceSettings::default() }
}
