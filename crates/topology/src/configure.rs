//! Applies the requested device settings and resets all others to their values at creation (idempotent).

mod big_tcp;
mod coalescing;
mod fault;
mod kernel;
mod mtu;
mod offloads;
mod queues;
mod rings;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use scenario::{DeviceRef, DeviceSettingKind, DeviceSettings};

use crate::{
    devices::{Device, Devices},
    error::{ConfigureError, ReadError},
    missing_capabilities::{Element, Missing},
    namespaces::Namespaces,
    refusal::Refusal,
    trial::Trial,
};
use kernel::Kernel;

trait DeviceSetting: Send + 'static {
    type State: Clone + PartialEq + fmt::Display + Send;

    const KIND: DeviceSettingKind;

    /// How to test whether the setting is supported, or `None` if the test needs a device that labs do not
    /// have.
    const TRIAL: Option<Trial>;

    fn read(kernel: &mut Kernel<'_>, device: &Device) -> Result<Self::State, ConfigureError>;

    fn target(
        device: &Device,
        original: &Self::State,
        requested: &DeviceSettings,
    ) -> Result<Self::State, ConfigureError>;

    fn change(
        kernel: &mut Kernel<'_>,
        device: &Device,
        now: &Self::State,
        target: &Self::State,
    ) -> Result<(), ConfigureError>;

    fn settle(_kernel: &Kernel<'_>, _devices: &Devices) -> Result<(), ConfigureError> {
        Ok(())
    }

    fn verify(
        kernel: &mut Kernel<'_>,
        device: &Device,
        original: &Self::State,
        requested: &DeviceSettings,
    ) -> Result<(), ConfigureError> {
        let (target, found) = (Self::target(device, original, requested)?, Self::read(kernel, device)?);
        if found == target { Ok(()) } else { Err(differs(device, Self::KIND.noun(), &target, &found)) }
    }
}

fn driver(kind: DeviceSettingKind) -> Box<dyn SettingDriver> {
    match kind {
        DeviceSettingKind::Mtu => Box::new(SettingStates::<mtu::Mtu>::default()),
        DeviceSettingKind::BigTcp => Box::new(SettingStates::<big_tcp::BigTcp>::default()),
        DeviceSettingKind::Offloads => Box::new(SettingStates::<offloads::Switches>::default()),
        DeviceSettingKind::Queues => Box::new(SettingStates::<queues::Queues>::default()),
        DeviceSettingKind::Rings => Box::new(SettingStates::<rings::Rings>::default()),
        DeviceSettingKind::Coalescing => Box::new(SettingStates::<coalescing::Interrupts>::default()),
        DeviceSettingKind::Fault => Box::new(SettingStates::<fault::Placed>::default()),
    }
}

pub(crate) struct Originals(BTreeMap<DeviceSettingKind, Box<dyn SettingDriver>>);

impl Default for Originals {
    fn default() -> Self {
        Self(DeviceSettingKind::ALL.into_iter().map(|kind| (kind, driver(kind))).collect())
    }
}

pub(crate) fn trials() -> impl Iterator<Item = Trial> {
    DeviceSettingKind::ALL.into_iter().filter_map(|kind| driver(kind).trial())
}

#[must_use]
pub fn setting_needs(kind: DeviceSettingKind) -> Option<&'static str> {
    driver(kind).trial().map(|trial| trial.name)
}

pub(crate) fn configure(
    namespaces: &Namespaces,
    devices: &Devices,
    originals: &mut Originals,
    settings: &BTreeMap<DeviceRef, DeviceSettings>,
) -> Result<(), ConfigureError> {
    let none = DeviceSettings::default();
    let requested = |device: &Device| settings.get(&device.at).unwrap_or(&none);
    let mut kernel = Kernel::new(namespaces);
    for device in in_order(devices, settings.keys())? {
        for (_, driver) in originals.0.iter_mut().filter(|(kind, _)| kind.is_in(requested(device))) {
            driver.remember(&mut kernel, device)?;
        }
    }
    for driver in originals.0.values() {
        let mut changed = false;
        for device in in_order(devices, driver.devices().iter())? {
            changed |= driver.set(&mut kernel, device, requested(device))?;
        }
        if changed {
            driver.settle(&kernel, devices)?;
        }
    }
    kernel.forget_links();
    for driver in originals.0.values() {
        for device in in_order(devices, driver.devices().iter())? {
            driver.verify(&mut kernel, device, requested(device))?;
        }
    }
    Ok(())
}

pub(crate) fn settings_of_existing(
    settings: &BTreeMap<DeviceRef, DeviceSettings>,
    missing: &[Missing],
) -> BTreeMap<DeviceRef, DeviceSettings> {
    let absent: BTreeSet<_> = missing
        .iter()
        .filter(|missing| missing.element.creates_devices())
        .flat_map(|missing| &missing.devices)
        .collect();
    let existing = settings.iter().filter(|(at, _)| !absent.contains(at));
    existing.map(|(at, settings)| (at.clone(), settings.clone())).collect()
}

pub(crate) fn remove_setting(settings: &mut BTreeMap<DeviceRef, DeviceSettings>, element: &Element) {
    if let Element::Setting(kind, device) = element
        && let Some(settings) = settings.get_mut(device)
    {
        kind.take_out(settings);
    }
}

trait SettingDriver: Send {
    fn trial(&self) -> Option<Trial>;
    fn devices(&self) -> Vec<DeviceRef>;
    fn remember(&mut self, kernel: &mut Kernel<'_>, device: &Device) -> Result<(), ConfigureError>;
    fn set(
        &self,
        kernel: &mut Kernel<'_>,
        device: &Device,
        requested: &DeviceSettings,
    ) -> Result<bool, ConfigureError>;
    fn settle(&self, kernel: &Kernel<'_>, devices: &Devices) -> Result<(), ConfigureError>;
    fn verify(
        &self,
        kernel: &mut Kernel<'_>,
        device: &Device,
        requested: &DeviceSettings,
    ) -> Result<(), ConfigureError>;
}

struct SettingStates<S: DeviceSetting>(BTreeMap<DeviceRef, S::State>);

impl<S: DeviceSetting> Default for SettingStates<S> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<S: DeviceSetting> SettingDriver for SettingStates<S> {
    fn trial(&self) -> Option<Trial> {
        S::TRIAL
    }

    fn devices(&self) -> Vec<DeviceRef> {
        self.0.keys().cloned().collect()
    }

    fn remember(&mut self, kernel: &mut Kernel<'_>, device: &Device) -> Result<(), ConfigureError> {
        if !self.0.contains_key(&device.at) {
            self.0.insert(device.at.clone(), S::read(kernel, device)?);
        }
        Ok(())
    }

    fn set(
        &self,
        kernel: &mut Kernel<'_>,
        device: &Device,
        requested: &DeviceSettings,
    ) -> Result<bool, ConfigureError> {
        let target = S::target(device, &self.0[&device.at], requested)?;
        let now = S::read(kernel, device)?;
        if now == target {
            return Ok(false);
        }
        S::change(kernel, device, &now, &target).map(|()| true)
    }

    fn settle(&self, kernel: &Kernel<'_>, devices: &Devices) -> Result<(), ConfigureError> {
        S::settle(kernel, devices)
    }

    fn verify(
        &self,
        kernel: &mut Kernel<'_>,
        device: &Device,
        requested: &DeviceSettings,
    ) -> Result<(), ConfigureError> {
        S::verify(kernel, device, &self.0[&device.at], requested)
    }
}

fn in_order<'d, 'n>(
    devices: &'d Devices,
    named: impl Iterator<Item = &'n DeviceRef>,
) -> Result<Vec<&'d Device>, ConfigureError> {
    let find =
        |at: &DeviceRef| devices.find(at).ok_or_else(|| ConfigureError::NoDevice { device: at.clone() });
    let mut found = named.map(find).collect::<Result<Vec<_>, _>>()?;
    found.sort_by_key(|device| device.depth);
    Ok(found)
}

fn refused(
    device: &Device,
    kind: DeviceSettingKind,
    setting: impl fmt::Display,
    refusal: Refusal,
) -> ConfigureError {
    let setting = setting.to_string();
    if refusal.is_unsupported() {
        unsupported(device, kind, setting, refusal.to_string())
    } else {
        ConfigureError::Refused { device: device.at.clone(), setting, refusal }
    }
}

fn unsupported(
    device: &Device,
    kind: DeviceSettingKind,
    setting: impl fmt::Display,
    reason: impl Into<String>,
) -> ConfigureError {
    let element = Element::Setting(kind, device.at.clone());
    ConfigureError::Unsupported { element, setting: setting.to_string(), reason: reason.into() }
}

fn unread(device: &Device, kind: DeviceSettingKind, refusal: Refusal) -> ConfigureError {
    if refusal.is_unsupported() {
        return unsupported(device, kind, kind.noun(), refusal.to_string());
    }
    let (host, what) = (device.at.host.clone(), format!("the {} of `{}`", kind.noun(), device.at.device));
    ReadError::Refused { host, what, refusal }.into()
}

fn differs(
    device: &Device,
    setting: &str,
    wanted: &impl fmt::Display,
    found: &impl fmt::Display,
) -> ConfigureError {
    ConfigureError::Differs {
        device: device.at.clone(),
        setting: setting.to_owned(),
        wanted: wanted.to_string().into(),
        found: found.to_string().into(),
    }
}
