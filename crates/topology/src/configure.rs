//! Settings of devices: what was asked for goes on, everything else back to what the device was made with. One file a kind.
//!
//! Setting the same twice changes nothing. It must not know why a setting is wanted (factors, scenarios).

mod big_tcp;
mod coalescing;
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
    probe::Trial,
    refusal::Refusal,
};
use kernel::Kernel;

/// A kind of setting, as kernels have it.
trait DeviceSetting: Send + 'static {
    /// What a device has of it.
    type State: Clone + PartialEq + fmt::Display + Send;

    /// Which it is.
    const KIND: DeviceSettingKind;

    /// How it is found out whether this machine's kernel can; none where that takes another device than a lab's.
    const TRIAL: Option<Trial>;

    /// What the device has.
    fn read(kernel: &mut Kernel<'_>, device: &Device) -> Result<Self::State, ConfigureError>;

    /// What it is to have: what is asked for, or else what it was made with.
    fn target(
        device: &Device,
        made: &Self::State,
        asked: &DeviceSettings,
    ) -> Result<Self::State, ConfigureError>;

    /// Changes what it has now.
    fn change(
        kernel: &mut Kernel<'_>,
        device: &Device,
        now: &Self::State,
        target: &Self::State,
    ) -> Result<(), ConfigureError>;

    /// Waits for what follows from changes.
    fn settle(_kernel: &Kernel<'_>, _devices: &Devices) -> Result<(), ConfigureError> {
        Ok(())
    }

    /// Compares what was read back.
    fn verify(
        kernel: &mut Kernel<'_>,
        device: &Device,
        made: &Self::State,
        asked: &DeviceSettings,
    ) -> Result<(), ConfigureError> {
        let (target, found) = (Self::target(device, made, asked)?, Self::read(kernel, device)?);
        if found == target { Ok(()) } else { Err(differs(device, Self::KIND.noun(), &target, &found)) }
    }
}

/// What stands for a kind of setting where kinds are gone through.
fn driver(kind: DeviceSettingKind) -> Box<dyn SettingDriver> {
    match kind {
        DeviceSettingKind::Mtu => Box::new(SettingStates::<mtu::Mtu>::default()),
        DeviceSettingKind::BigTcp => Box::new(SettingStates::<big_tcp::BigTcp>::default()),
        DeviceSettingKind::Offloads => Box::new(SettingStates::<offloads::Switches>::default()),
        DeviceSettingKind::Queues => Box::new(SettingStates::<queues::Queues>::default()),
        DeviceSettingKind::Rings => Box::new(SettingStates::<rings::Rings>::default()),
        DeviceSettingKind::Coalescing => Box::new(SettingStates::<coalescing::Interrupts>::default()),
    }
}

/// What devices had before they were first set.
pub(crate) struct Originals(BTreeMap<DeviceSettingKind, Box<dyn SettingDriver>>);

impl Default for Originals {
    fn default() -> Self {
        Self(DeviceSettingKind::ALL.into_iter().map(|kind| (kind, driver(kind))).collect())
    }
}

/// How it is found out whether settings can be made.
pub(crate) fn trials() -> impl Iterator<Item = Trial> {
    DeviceSettingKind::ALL.into_iter().filter_map(|kind| driver(kind).trial())
}

/// The capability that a setting needs of this machine's kernel, by its name in [`crate::probe`].
#[must_use]
pub fn setting_needs(kind: DeviceSettingKind) -> Option<&'static str> {
    driver(kind).trial().map(|trial| trial.name)
}

/// Gives every device its settings: see [`crate::Topology::configure`].
pub(crate) fn configure(
    namespaces: &Namespaces,
    devices: &Devices,
    originals: &mut Originals,
    settings: &BTreeMap<DeviceRef, DeviceSettings>,
) -> Result<(), ConfigureError> {
    let none = DeviceSettings::default();
    let asked = |device: &Device| settings.get(&device.at).unwrap_or(&none);
    let mut kernel = Kernel::new(namespaces);
    for device in in_order(devices, settings.keys())? {
        for (_, driver) in originals.0.iter_mut().filter(|(kind, _)| kind.is_in(asked(device))) {
            driver.remember(&mut kernel, device)?;
        }
    }
    for driver in originals.0.values() {
        let mut changed = false;
        for device in in_order(devices, driver.devices().iter())? {
            changed |= driver.set(&mut kernel, device, asked(device))?;
        }
        if changed {
            driver.settle(&kernel, devices)?;
        }
    }
    kernel.forget_links();
    for driver in originals.0.values() {
        for device in in_order(devices, driver.devices().iter())? {
            driver.verify(&mut kernel, device, asked(device))?;
        }
    }
    Ok(())
}

/// The settings of the devices that stand.
pub(crate) fn of_standing(
    settings: &BTreeMap<DeviceRef, DeviceSettings>,
    missing: &[Missing],
) -> BTreeMap<DeviceRef, DeviceSettings> {
    let absent: BTreeSet<_> = missing
        .iter()
        .filter(|missing| missing.element.makes_devices())
        .flat_map(|missing| &missing.devices)
        .collect();
    let standing = settings.iter().filter(|(at, _)| !absent.contains(at));
    standing.map(|(at, settings)| (at.clone(), settings.clone())).collect()
}

/// Takes the setting that is `element` out of `settings`.
pub(crate) fn leave_out(settings: &mut BTreeMap<DeviceRef, DeviceSettings>, element: &Element) {
    if let Element::Setting(kind, device) = element
        && let Some(settings) = settings.get_mut(device)
    {
        kind.take_out(settings);
    }
}

/// A kind of setting and what devices were made with.
trait SettingDriver: Send {
    fn trial(&self) -> Option<Trial>;
    fn devices(&self) -> Vec<DeviceRef>;
    fn remember(&mut self, kernel: &mut Kernel<'_>, device: &Device) -> Result<(), ConfigureError>;
    /// Whether anything was changed.
    fn set(
        &self,
        kernel: &mut Kernel<'_>,
        device: &Device,
        asked: &DeviceSettings,
    ) -> Result<bool, ConfigureError>;
    fn settle(&self, kernel: &Kernel<'_>, devices: &Devices) -> Result<(), ConfigureError>;
    fn verify(
        &self,
        kernel: &mut Kernel<'_>,
        device: &Device,
        asked: &DeviceSettings,
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
        asked: &DeviceSettings,
    ) -> Result<bool, ConfigureError> {
        let target = S::target(device, &self.0[&device.at], asked)?;
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
        asked: &DeviceSettings,
    ) -> Result<(), ConfigureError> {
        S::verify(kernel, device, &self.0[&device.at], asked)
    }
}

/// Each device, what lies below before what lies above: a tunnel's MTU must fit the device under it.
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

/// What a refusal means: that the kernel or the device cannot do this, or that it would not.
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

/// The kernel, or the device, cannot do this.
fn unsupported(
    device: &Device,
    kind: DeviceSettingKind,
    setting: impl fmt::Display,
    reason: impl Into<String>,
) -> ConfigureError {
    let element = Element::Setting(kind, device.at.clone());
    ConfigureError::Unsupported { element, setting: setting.to_string(), reason: reason.into() }
}

/// What a refusal to tell of a setting means: that the device has none, or that it cannot be read.
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
