//! BIG TCP: the largest packet that a device's segmentation and receive offload build.

use std::ops::RangeInclusive;

use units::Bytes;

use super::{DeviceSetting, DeviceSettings};
use crate::{
    diagnosis::Problem,
    values::{Label, Values, Word},
};

const RANGE: RangeInclusive<u64> = 64 << 10..=512 << 10;

/// The kernel's maximum of eight times 65535 bytes (`GRO_MAX_SIZE` in include/linux/netdevice.h), 8 bytes less than
/// 512 KiB.
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
    about: "Largest packet that segmentation and receive offload build (BIG TCP): 64KiB to 512KiB.",
    values: Values::Texts(&["64KiB", "128KiB", "512KiB"], read),
};

fn read(label: &Label<'_>) -> Result<DeviceSettings, Problem> {
    let size = label.size()?;
    if !RANGE.contains(&size.0) {
        let help = "use 64KiB (no BIG TCP) to 512KiB";
        return Err(label.out_of_range(&format!("a maximum packet size of {size} is"), help));
    }
    Ok(DeviceSettings { big_tcp: Some(Bytes(size.0.min(MOST))), ..DeviceSettings::default() })
}
