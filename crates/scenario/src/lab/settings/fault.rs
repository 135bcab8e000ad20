//! The fault of a device or of its host. [`crate::check::place_faults`] replaces the fault's name with the
//! fault itself.

use super::{DeviceSetting, DeviceSettings};
use crate::{
    fault::{NONE, PlacedFault},
    values::{Values, Word},
};

pub(super) struct Placed;

impl DeviceSetting for Placed {
    fn noun(&self) -> &'static str {
        "fault"
    }

    fn words(&self) -> &'static [Word<DeviceSettings>] {
        const { &[WORD] }
    }

    fn put(&self, settings: &mut DeviceSettings, other: &DeviceSettings) {
        if other.fault.is_some() {
            settings.fault.clone_from(&other.fault);
        }
    }

    fn take_out(&self, settings: &mut DeviceSettings) {
        settings.fault = None;
    }
}

const WORD: Word<DeviceSettings> = Word {
    word: "fault",
    about: "A fault of the device or of its host: a name from `[faults]`, or `none`.",
    values: Values::Texts(&[NONE], |label| {
        let fault = PlacedFault { name: label.text.to_owned(), fault: None };
        Ok(DeviceSettings { fault: Some(fault), ..DeviceSettings::default() })
    }),
};
