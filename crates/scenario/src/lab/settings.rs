//! Resolved device settings, with one file per kind. `topology` applies them.

mod big_tcp;
mod coalescing;
mod fault;
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
    fault::PlacedFault,
    names::{DeviceRef, HostName},
    values::Word,
};
pub(crate) use mtu::RANGE as MTUS;
pub use offloads::Offloads;
use rings::RingSizes;

/// `None` keeps the kernel's default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceSettings {
    pub mtu: Option<u32>,
    pub offloads: Offloads,
    /// The largest packet that segmentation and receive offload may build (BIG TCP above 64 KiB).
    pub big_tcp: Option<Bytes>,
    /// The number of queues per direction. In the lab's own settings, this is the number at creation, which
    /// is also the maximum.
    pub queues: Option<u32>,
    #[serde(default)]
    pub rings: RingSizes,
    #[serde(default)]
    pub coalescing: Coalescing,
    #[serde(default)]
    pub fault: Option<PlacedFault>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceSettingKind {
    Mtu,
    BigTcp,
    Offloads,
    Queues,
    Rings,
    Coalescing,
    Fault,
}

impl DeviceSettingKind {
    pub const ALL: [Self; 7] =
        [Self::Mtu, Self::BigTcp, Self::Offloads, Self::Queues, Self::Rings, Self::Coalescing, Self::Fault];

    fn setting(self) -> &'static dyn DeviceSetting {
        match self {
            Self::Mtu => &mtu::Mtu,
            Self::BigTcp => &big_tcp::BigTcp,
            Self::Offloads => &offloads::Switches,
            Self::Queues => &queues::Queues,
            Self::Rings => &rings::Rings,
            Self::Coalescing => &coalescing::Interrupts,
            Self::Fault => &fault::Placed,
        }
    }

    #[must_use]
    pub fn noun(self) -> &'static str {
        self.setting().noun()
    }

    #[must_use]
    pub fn is_in(self, settings: &DeviceSettings) -> bool {
        let mut without = settings.clone();
        self.take_out(&mut without);
        without != *settings
    }

    pub fn take_out(self, settings: &mut DeviceSettings) {
        self.setting().take_out(settings);
    }

    pub(crate) fn words(self) -> &'static [Word<DeviceSettings>] {
        self.setting().words()
    }

    pub(crate) fn meet(self, one: &DeviceSettings, other: &DeviceSettings) -> bool {
        self.setting().meet(one, other)
    }

    pub(crate) fn count(self, settings: &DeviceSettings) -> Option<u32> {
        self.setting().count()?(settings)
    }

    pub(crate) fn is_counted(self) -> bool {
        self.setting().count().is_some()
    }
}

impl DeviceSettings {
    /// Merges in `other`, which takes precedence.
    pub(crate) fn put(&mut self, other: &Self) {
        DeviceSettingKind::ALL.into_iter().for_each(|kind| kind.setting().put(self, other));
    }
}

trait DeviceSetting: Sync {
    fn noun(&self) -> &'static str;

    fn words(&self) -> &'static [Word<DeviceSettings>];

    fn put(&self, settings: &mut DeviceSettings, other: &DeviceSettings);

    fn take_out(&self, settings: &mut DeviceSettings);

    fn meet(&self, _one: &DeviceSettings, _other: &DeviceSettings) -> bool {
        true
    }

    fn count(&self) -> Option<fn(&DeviceSettings) -> Option<u32>> {
        None
    }

    fn make_room(&self, _lab: &mut Lab, _device: &DeviceRef, _settings: &DeviceSettings) {}
}

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

pub(super) fn settings_of_host(
    settings: &BTreeMap<DeviceRef, DeviceSettings>,
    host: &HostName,
) -> BTreeMap<DeviceRef, DeviceSettings> {
    settings.iter().filter(|(at, _)| at.host == *host).map(|(at, one)| (at.clone(), one.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn valid(word: &Word<DeviceSettings>) -> DeviceSettings {
        let schema = word.schema();
        let first = |list: &str| schema[list][0].as_str().map(str::to_owned);
        let text = first("enum").or_else(|| first("examples"));
        let text = text.unwrap_or_else(|| schema["maximum"].to_string());
        word.read(&text, 0..0).unwrap_or_else(|problem| panic!("{}: {problem:?}", word.word))
    }

    #[test]
    fn each_key_sets_exactly_one_kind() {
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
