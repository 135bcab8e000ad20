//! A factor: what a sweep varies, and its levels.

mod workload_setting;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    lab::{DeviceSettingKind, DeviceSettings},
    names::{DeviceRef, FactorName, PathName, WorkloadName},
    path::Path,
    workload::Workload,
};
pub use workload_setting::WorkloadSetting;
pub(crate) use workload_setting::congestion;

/// A factor of the scenario.
///
/// It applies to a cell when it can change it: factors of a workload to those that have such a setting, factors of
/// devices to the paths that pass one of the devices, and only to `paths` and `workloads` where the scenario lists some.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    pub name: FactorName,
    /// The paths it is confined to; empty means all.
    pub paths: Vec<PathName>,
    /// The workloads it is confined to; empty means all that it can change.
    pub workloads: Vec<WorkloadName>,
    /// The devices it sets; empty for factors of the workload.
    pub devices: Vec<DeviceRef>,
    /// Its levels, in the order of the document. The first one is the reference of its effect.
    pub levels: Vec<Level>,
}

impl Factor {
    /// Whether it can change what `workload` measures on `path`, and is not confined to others.
    #[must_use]
    pub fn applies_to(&self, path: &Path, workload: &Workload) -> bool {
        let open = (self.paths.is_empty() || self.paths.contains(&path.name))
            && (self.workloads.is_empty() || self.workloads.contains(&workload.name));
        let passes = || self.devices.iter().any(|device| path.devices.contains(device));
        let changes = |level: &Level| match &level.setting {
            Setting::Devices(_) => passes(),
            Setting::Workload(setting) => setting.put(&mut workload.clone()),
        };
        open && self.levels.first().is_some_and(changes)
    }

    /// Puts a level into the settings of the factor's devices; nothing for factors of the workload.
    pub(crate) fn set(&self, level: usize, settings: &mut BTreeMap<DeviceRef, DeviceSettings>) {
        if let Some(level) = self.levels[level].setting.of_devices() {
            for device in &self.devices {
                settings.entry(device.clone()).or_default().put(level);
            }
        }
    }

    /// What it sets its devices to, at any level.
    pub(crate) fn device_settings(&self) -> impl Iterator<Item = (&DeviceRef, &DeviceSettings)> {
        let levels = self.levels.iter().filter_map(|level| level.setting.of_devices());
        levels.flat_map(|settings| self.devices.iter().map(move |device| (device, settings)))
    }

    /// Whether it is this setting of devices that it varies.
    pub(crate) fn varies(&self, kind: DeviceSettingKind) -> bool {
        self.device_settings().any(|(_, settings)| kind.is_in(settings))
    }

    /// The number of a level that other factors can be multiples of.
    pub(crate) fn number(&self, level: usize) -> Option<u32> {
        let settings = self.levels.get(level)?.setting.of_devices()?;
        DeviceSettingKind::ALL.into_iter().find_map(|kind| kind.count(settings))
    }
}

/// One level of a factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// As written in the scenario and shown in reports: `on`, `9000`, `cross-cpu`.
    pub label: String,
    /// What it sets.
    pub setting: Setting,
}

/// What a level sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// These settings of the factor's devices.
    Devices(DeviceSettings),
    Workload(WorkloadSetting),
}

impl Setting {
    fn of_devices(&self) -> Option<&DeviceSettings> {
        match self {
            Self::Devices(settings) => Some(settings),
            Self::Workload(_) => None,
        }
    }
}
