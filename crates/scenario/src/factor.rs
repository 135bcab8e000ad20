//! A factor: a setting that a sweep varies, and its levels.

mod workload_setting;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    family::Family,
    lab::{DeviceSettingKind, DeviceSettings},
    names::{DeviceRef, FactorName, PathName, WorkloadName},
    path::Path,
    workload::Workload,
};
pub use workload_setting::WorkloadSetting;
pub(crate) use workload_setting::congestion;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    pub name: FactorName,
    pub paths: Vec<PathName>,
    pub workloads: Vec<WorkloadName>,
    pub devices: Vec<DeviceRef>,
    /// Effects are reported relative to the first.
    pub levels: Vec<Level>,
}

impl Factor {
    #[must_use]
    pub fn applies_to(&self, path: &Path, workload: &Workload) -> bool {
        let selected = (self.paths.is_empty() || self.paths.contains(&path.name))
            && (self.workloads.is_empty() || self.workloads.contains(&workload.name));
        let passes = || self.devices.iter().any(|device| path.devices.contains(device));
        let changes = |level: &Level| match &level.setting {
            Setting::Devices(_) => passes(),
            Setting::Workload(setting) => setting.put(&mut workload.clone()),
            Setting::Family(_) => workload.load.kind().has_peer(),
        };
        selected && self.levels.first().is_some_and(changes)
    }

    pub(crate) fn set(&self, level: usize, settings: &mut BTreeMap<DeviceRef, DeviceSettings>) {
        if let Some(level) = self.levels[level].setting.device_settings_of_level() {
            for device in &self.devices {
                settings.entry(device.clone()).or_default().put(level);
            }
        }
    }

    pub(crate) fn device_settings(&self) -> impl Iterator<Item = (&DeviceRef, &DeviceSettings)> {
        let levels = self.levels.iter().filter_map(|level| level.setting.device_settings_of_level());
        levels.flat_map(|settings| self.devices.iter().map(move |device| (device, settings)))
    }

    pub(crate) fn varies(&self, kind: DeviceSettingKind) -> bool {
        self.device_settings().any(|(_, settings)| kind.is_in(settings))
    }

    pub(crate) fn number(&self, level: usize) -> Option<u32> {
        let settings = self.levels.get(level)?.setting.device_settings_of_level()?;
        DeviceSettingKind::ALL.into_iter().find_map(|kind| kind.count(settings))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// As it appears in the scenario and in reports, e.g. `on`, `9000` or `cross-cpu`.
    pub label: String,
    pub setting: Setting,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    Devices(DeviceSettings),
    Workload(WorkloadSetting),
    Family(Family),
}

impl Setting {
    fn device_settings_of_level(&self) -> Option<&DeviceSettings> {
        match self {
            Self::Devices(settings) => Some(settings),
            Self::Workload(_) | Self::Family(_) => None,
        }
    }
}
