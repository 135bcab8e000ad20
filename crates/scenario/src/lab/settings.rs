//! Settings of devices as meant. A kind of setting is one file: its words, their values, and what a lab must be made with
//! so that it can be set. How a kernel is told of it is for `topology`.

mod big_tcp;
mod coalescing;
mod mtu;
mod offloads;
mod queues;
mod rings;

use std::collections::BTreeMap;

use samples::Coalescing;
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::Lab;
use crate::{
    names::{DeviceRef, HostName},
    values::Word,
};
pub(crate) use mtu::RANGE as MTUS;
pub use offloads::Offloads;
use rings::RingSizes;

/// Settings of one device; what is `None` is left as the kernel made it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceSettings {
    /// The MTU, where it differs from what the device was made with.
    pub mtu: Option<u32>,
    pub offloads: Offloads,
    /// The largest packet that segmentation and receive offload may build (BIG TCP above 64 KiB).
    pub big_tcp: Option<Bytes>,
    /// Queues of each direction. Those of the lab itself are what the device is made with: the most that it can have.
    pub queues: Option<u32>,
    /// Places in the rings of its queues.
    #[serde(default)]
    pub rings: RingSizes,
    /// When it interrupts.
    #[serde(default)]
    pub coalescing: Coalescing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceSettingKind {
    Mtu,
    /// The sizes of BIG TCP.
    BigTcp,
    Offloads,
    Queues,
    /// Ring sizes.
    Rings,
    /// Coalescing of interrupts.
    Coalescing,
}

impl DeviceSettingKind {
    /// All of them, in the order in which they are set.
    pub const ALL: [Self; 6] =
        [Self::Mtu, Self::BigTcp, Self::Offloads, Self::Queues, Self::Rings, Self::Coalescing];

    fn setting(self) -> &'static dyn DeviceSetting {
        match self {
            Self::Mtu => &mtu::Mtu,
            Self::BigTcp => &big_tcp::BigTcp,
            Self::Offloads => &offloads::Switches,
            Self::Queues => &queues::Queues,
            Self::Rings => &rings::Rings,
            Self::Coalescing => &coalescing::Interrupts,
        }
    }

    /// What it is called: `MTU`, `queues`.
    #[must_use]
    pub fn noun(self) -> &'static str {
        self.setting().noun()
    }

    /// Whether `settings` say something of it.
    #[must_use]
    pub fn is_in(self, settings: &DeviceSettings) -> bool {
        let mut without = settings.clone();
        self.take_out(&mut without);
        without != *settings
    }

    /// Leaves it out of `settings`.
    pub fn take_out(self, settings: &mut DeviceSettings) {
        self.setting().take_out(settings);
    }

    /// The words that set it, each overriding those before it.
    pub(crate) fn words(self) -> &'static [Word<DeviceSettings>] {
        self.setting().words()
    }

    /// Whether the two, which both set it, set the same part of it.
    pub(crate) fn meet(self, one: &DeviceSettings, other: &DeviceSettings) -> bool {
        self.setting().meet(one, other)
    }

    /// The number in `settings` that other factors can be multiples of.
    pub(crate) fn count(self, settings: &DeviceSettings) -> Option<u32> {
        self.setting().count()?(settings)
    }

    /// Whether it has such a number.
    pub(crate) fn is_counted(self) -> bool {
        self.setting().count().is_some()
    }
}

impl DeviceSettings {
    /// These, overridden by what `other` says.
    pub(crate) fn put(&mut self, other: &Self) {
        DeviceSettingKind::ALL.into_iter().for_each(|kind| kind.setting().put(self, other));
    }
}

/// What is to be known of a kind of setting.
trait DeviceSetting: Sync {
    /// What it is called.
    fn noun(&self) -> &'static str;

    /// The words that set it, the more general first.
    fn words(&self) -> &'static [Word<DeviceSettings>];

    /// Overrides it with what `other` says of it.
    fn put(&self, settings: &mut DeviceSettings, other: &DeviceSettings);

    /// Leaves it out.
    fn take_out(&self, settings: &mut DeviceSettings);

    /// Whether two settings of it say something of the same part.
    fn meet(&self, _one: &DeviceSettings, _other: &DeviceSettings) -> bool {
        true
    }

    /// The number that other factors can be multiples of.
    fn count(&self) -> Option<fn(&DeviceSettings) -> Option<u32>> {
        None
    }

    /// Changes the lab so that its device is made with what it needs to be given `settings` later.
    fn make_room(&self, _lab: &mut Lab, _device: &DeviceRef, _settings: &DeviceSettings) {}
}

/// The lab with devices that can be given any of these settings, and its own.
pub(crate) fn make_room<'s>(
    mut lab: Lab,
    later: impl Iterator<Item = (&'s DeviceRef, &'s DeviceSettings)>,
) -> Lab {
    for (device, settings) in lab.devices.clone() {
        make_room_for(&mut lab, &device, &settings);
    }
    later.for_each(|(device, settings)| make_room_for(&mut lab, device, settings));
    lab
}

fn make_room_for(lab: &mut Lab, device: &DeviceRef, settings: &DeviceSettings) {
    DeviceSettingKind::ALL.into_iter().for_each(|kind| kind.setting().make_room(lab, device, settings));
}

pub(super) fn of_host(
    settings: &BTreeMap<DeviceRef, DeviceSettings>,
    host: &HostName,
) -> BTreeMap<DeviceRef, DeviceSettings> {
    settings.iter().filter(|(at, _)| at.host == *host).map(|(at, one)| (at.clone(), one.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value of each word that is one.
    fn valid(word: &Word<DeviceSettings>) -> DeviceSettings {
        let schema = word.schema();
        let first = |list: &str| schema[list][0].as_str().map(str::to_owned);
        let text = first("enum").or_else(|| first("examples"));
        let text = text.unwrap_or_else(|| schema["maximum"].to_string());
        word.read(&text, 0..0).unwrap_or_else(|problem| panic!("{}: {problem:?}", word.word))
    }

    #[test]
    fn every_setting_has_a_kind_whose_words_set_it_and_nothing_else() {
        let fields = serde_json::to_value(DeviceSettings::default()).expect("JSON");
        assert_eq!(DeviceSettingKind::ALL.len(), fields.as_object().expect("a table").len());
        assert!(DeviceSettingKind::ALL.is_sorted());
        for kind in DeviceSettingKind::ALL {
            for word in kind.words() {
                let mut settings = DeviceSettings::default();
                settings.put(&valid(word));
                assert_eq!(settings, valid(word), "{}", word.word);
                let set: Vec<_> =
                    DeviceSettingKind::ALL.into_iter().filter(|kind| kind.is_in(&settings)).collect();
                assert_eq!(set, [kind], "{}", word.word);
                kind.take_out(&mut settings);
                assert_eq!(settings, DeviceSettings::default(), "{}", word.word);
            }
        }
    }
}
