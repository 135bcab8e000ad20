//! BIG TCP: the largest packet that segmentation and receive offload of a device build.

use std::ops::RangeInclusive;

use units::Bytes;

use super::{DeviceSetting, DeviceSettings};
use crate::{
    diagnosis::Problem,
    values::{Label, Values, Word},
};

/// From where packets count as big, and the most that may be written.
const RANGE: RangeInclusive<u64> = 64 << 10..=512 << 10;

/// The largest packet that the kernel's segmentation and receive offload build: eight times 65535 bytes
/// (`GRO_MAX_SIZE` in include/linux/netdevice.h), 8 bytes short of 512 KiB.
const MOST: u64 = 8 * 65_535;

pub(super) struct BigTcp;

impl DeviceSetting for BigTcp {
    fn noun(&self) -> &'static str {
        "BIG TCP"
    }

    fn words(&self) -> &'static [Word<DeviceSettings>] {
        const { &[WORD] }
    }

    fn put(&self, settings: &mut DeviceSettings, other: &DeviceSettings) {
        settings.big_tcp = other.big_tcp.or(settings.big_tcp);
    }

    fn take_out(&self, settings: &mut DeviceSettings) {
        settings.big_tcp = None;
    }
}

const WORD: Word<DeviceSettings> = Word {
    word: "big-tcp",
    about: "The largest packet that segmentation and receive offload of devices build: 64KiB to 512KiB (BIG TCP).",
    values: Values::Texts(&["64KiB", "128KiB", "512KiB"], read),
};

fn read(label: &Label<'_>) -> Result<DeviceSettings, Problem> {
    let size = label.size()?;
    if !RANGE.contains(&size.0) {
        let help = "take 64KiB (no BIG TCP) to 512KiB";
        return Err(label.out_of_range(&format!("a largest packet of {size} is"), help));
    }
    Ok(DeviceSettings { big_tcp: Some(Bytes(size.0.min(MOST))), ..DeviceSettings::default() })
}
