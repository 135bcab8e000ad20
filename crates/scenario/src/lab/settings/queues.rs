//! The number of queues per direction, limited by the number at creation and, in a guest, by its virtual
//! machine.

use super::{DeviceSetting, DeviceSettings};
use crate::{
    lab::Lab,
    link,
    names::DeviceRef,
    values::{Values, Word},
};

pub(super) struct Queues;

impl DeviceSetting for Queues {
    fn noun(&self) -> &'static str {
        "queues"
    }

    fn words(&self) -> &'static [Word<DeviceSettings>] {
        const { &[WORD] }
    }

    fn put(&self, settings: &mut DeviceSettings, other: &DeviceSettings) {
        settings.queues = other.queues.or(settings.queues);
    }

    fn take_out(&self, settings: &mut DeviceSettings) {
        settings.queues = None;
    }

    fn count(&self) -> Option<fn(&DeviceSettings) -> Option<u32>> {
        Some(|settings| settings.queues)
    }

    fn make_room(&self, lab: &mut Lab, device: &DeviceRef, settings: &DeviceSettings) {
        let Some(queues) = settings.queues else { return };
        let created = lab.devices.entry(device.clone()).or_default();
        created.queues = created.queues.max(Some(queues));
        let host = lab.hosts.iter_mut().find(|host| host.name == device.host);
        let Some(vm) = host.and_then(|host| host.vm.as_mut()) else { return };
        vm.queues = vm.queues.max(queues);
        let queues = vm.queues;
        link::set_queues(lab, device, queues);
    }
}

const WORD: Word<DeviceSettings> = Word {
    word: "queues",
    about: "Queues per direction, for wire ends, guests and pods.",
    values: Values::Numbers {
        // Virtio-net supports up to 256 queue pairs. Veth uses the same limit.
        range: 1..=256,
        describe: |queues| format!("{queues} queues are"),
        set: |queues| DeviceSettings { queues: Some(queues), ..DeviceSettings::default() },
    },
};
