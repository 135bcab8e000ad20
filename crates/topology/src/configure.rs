//! Settings of devices: what was asked for goes on, everything else back to what the device was made with.
//!
//! Setting the same twice changes nothing. It must not know why a setting is wanted (factors, scenarios).

mod features;
mod link;
mod queues;

use std::collections::{BTreeMap, BTreeSet};

use scenario::{DeviceRef, DeviceSettings, Offloads};

use crate::{
    devices::{Device, Devices},
    error::{ConfigureError, ReadError},
    missing::{Element, Missing},
    namespaces::Namespaces,
    offload::Reader,
    read_back::{self, LinkFacts, Sizes},
    refusal::Refusal,
};

/// What every device that was ever touched had before.
#[derive(Debug, Default)]
pub(crate) struct Originals(BTreeMap<DeviceRef, Original>);

#[derive(Debug, Clone)]
struct Original {
    mtu: u32,
    sizes: Sizes,
    /// The features that can be switched, and whether each was asked for.
    features: BTreeMap<String, bool>,
    /// Queues, once any were asked for.
    queues: Option<u32>,
}

/// Gives every device its settings: see [`crate::Topology::configure`].
pub(crate) fn configure(
    namespaces: &Namespaces,
    devices: &Devices,
    originals: &mut Originals,
    settings: &BTreeMap<DeviceRef, DeviceSettings>,
) -> Result<(), ConfigureError> {
    let none = DeviceSettings::default();
    let touched = in_order(devices, originals.0.keys().chain(settings.keys()).cloned())?;
    let mut features = Reader::new(namespaces);
    let links = Links::read(namespaces, &touched)?;
    let mut queues_changed = false;
    for device in &touched {
        let link = links.of(device)?;
        let wanted = settings.get(&device.at).unwrap_or(&none);
        let original = originals.remember(device, link, wanted, &mut features)?;
        link::set(namespaces, device, original, link, wanted)?;
        features::set(&mut features, device, original, wanted.offloads)?;
        queues_changed |= queues::set(&mut features, device, original, wanted)?;
    }
    if queues_changed {
        queues::settle(namespaces, devices)?;
    }
    let links = Links::read(namespaces, &touched)?;
    for device in &touched {
        let original = &originals.0[&device.at];
        let wanted = settings.get(&device.at).unwrap_or(&none);
        link::verify(device, original, links.of(device)?, wanted)?;
        features::verify(&mut features, device, original, wanted.offloads)?;
        queues::verify(&mut features, device, original, wanted)?;
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
    let Some(settings) = element.device().and_then(|device| settings.get_mut(device)) else { return };
    match element {
        Element::Offloads(_) => settings.offloads = Offloads::default(),
        Element::BigTcp(_) => settings.big_tcp = None,
        Element::Mtu(_) => settings.mtu = None,
        Element::Queues(_) => settings.queues = None,
        _ => {}
    }
}

impl Originals {
    /// What the device had when this was first called for it.
    fn remember(
        &mut self,
        device: &Device,
        link: &LinkFacts,
        wanted: &DeviceSettings,
        features: &mut Reader<'_>,
    ) -> Result<&Original, ConfigureError> {
        if !self.0.contains_key(&device.at) {
            let features = features.read(&device.at)?.wanted();
            let original = Original { mtu: link.mtu, sizes: link.sizes, features, queues: None };
            self.0.insert(device.at.clone(), original);
        }
        let original = self.0.get_mut(&device.at).expect("it was inserted");
        if wanted.queues.is_some() && original.queues.is_none() {
            original.queues = Some(queues::read(features, device)?.now);
        }
        Ok(original)
    }
}

/// Each device once, what lies below before what lies above: a tunnel's MTU must fit the device under it.
fn in_order(
    devices: &Devices,
    named: impl Iterator<Item = DeviceRef>,
) -> Result<Vec<&Device>, ConfigureError> {
    let named: BTreeSet<_> = named.collect();
    let found = named.into_iter().map(|at| devices.find(&at).ok_or(ConfigureError::NoDevice { device: at }));
    let mut found = found.collect::<Result<Vec<_>, _>>()?;
    found.sort_by_key(|device| device.depth);
    Ok(found)
}

/// What a refusal means: that the kernel or the device cannot do this, or that it would not.
fn refused(device: &Device, element: Element, setting: String, refusal: Refusal) -> ConfigureError {
    if refusal.is_unsupported() {
        ConfigureError::Unsupported { element, setting, reason: refusal.to_string() }
    } else {
        ConfigureError::Refused { device: device.at.clone(), setting, refusal }
    }
}

/// The links of every host that has one of the devices.
struct Links<'a>(BTreeMap<&'a scenario::HostName, BTreeMap<u32, LinkFacts>>);

impl<'a> Links<'a> {
    fn read(namespaces: &Namespaces, devices: &[&'a Device]) -> Result<Self, ReadError> {
        let hosts: BTreeSet<_> = devices.iter().map(|device| &device.at.host).collect();
        let read = |host| Ok((host, read_back::links(namespaces, host, false)?));
        Ok(Self(hosts.into_iter().map(read).collect::<Result<_, _>>()?))
    }

    fn of(&self, device: &Device) -> Result<&LinkFacts, ConfigureError> {
        let link = self.0.get(&device.at.host).and_then(|links| links.get(&device.index));
        link.ok_or_else(|| ConfigureError::NoDevice { device: device.at.clone() })
    }
}
