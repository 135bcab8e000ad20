//! Offloads: ethtool features, set by name.

use std::{collections::BTreeMap, fmt};

use nlink::netlink::genl::ethtool::FeaturesBuilder;
use scenario::{DeviceSettingKind, DeviceSettings, Offloads};

use super::{DeviceSetting, Kernel, differs, refused, unsupported};
use crate::{
    devices::Device,
    error::{ConfigureError, ReadError},
    offload::{FeatureSet, Offload, offloads},
    scratch,
    trial::{Attempt, Trial},
};

pub(super) struct Switches;

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Features(BTreeMap<String, bool>);

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let features = self.0.iter().map(|(name, on)| format!("{name} {}", word(*on)));
        f.write_str(&features.collect::<Vec<_>>().join(", "))
    }
}

impl DeviceSetting for Switches {
    type State = Features;

    const KIND: DeviceSettingKind = DeviceSettingKind::Offloads;
    const TRIAL: Option<Trial> = Some(Trial {
        name: "offloads",
        done: "disabled TSO, GSO, GRO and checksum offload",
        needed_for: "measuring the cost without an offload",
        remedy: "a kernel with CONFIG_ETHTOOL_NETLINK",
        required: true,
        attempt: Attempt::Lab(|| {
            let offloads = Offloads::all(false);
            scratch::configured_wire(DeviceSettings { offloads, ..DeviceSettings::default() })
        }),
    });

    fn read(kernel: &mut Kernel<'_>, device: &Device) -> Result<Features, ConfigureError> {
        Ok(Features(features(kernel, device)?.wanted()))
    }

    fn target(
        _device: &Device,
        original: &Features,
        requested: &DeviceSettings,
    ) -> Result<Features, ConfigureError> {
        Ok(Features(target(original, requested.offloads)))
    }

    fn change(
        kernel: &mut Kernel<'_>,
        device: &Device,
        now: &Features,
        target: &Features,
    ) -> Result<(), ConfigureError> {
        let differs = |(name, on): &(&String, &bool)| now.0.get(*name).is_some_and(|now| now != *on);
        let changes =
            Features(target.0.iter().filter(differs).map(|(name, on)| (name.clone(), *on)).collect());
        let switched = kernel.ethtool(device, async |ethtool, name| {
            let switch = |features: FeaturesBuilder, (name, on): (&String, &bool)| {
                if *on { features.enable(name) } else { features.disable(name) }
            };
            ethtool.set_features_by_name(name, |features| changes.0.iter().fold(features, switch)).await
        });
        switched.map_err(|refusal| refused(device, Self::KIND, &changes, refusal))
    }

    fn verify(
        kernel: &mut Kernel<'_>,
        device: &Device,
        original: &Features,
        requested: &DeviceSettings,
    ) -> Result<(), ConfigureError> {
        let active = features(kernel, device)?.active();
        for offload in offloads(requested.offloads) {
            let Some(on) = offload.on else { continue };
            let features: Vec<_> = if on {
                selected(original, &offload)
            } else {
                active.keys().filter(|name| (offload.is)(name)).map(String::as_str).collect()
            };
            if on && features.is_empty() {
                let setting = format!("{} on", offload.word);
                return Err(unsupported(device, Self::KIND, setting, "the device has no such feature"));
            }
            for name in features {
                compare(device, original, name, on, active.get(name).copied().unwrap_or_default())?;
            }
        }
        Ok(())
    }
}

fn features(kernel: &mut Kernel<'_>, device: &Device) -> Result<FeatureSet, ConfigureError> {
    let read = kernel.ethtool(device, async |ethtool, name| ethtool.get_features_by_name(name).await);
    let what = || format!("the features of `{}`", device.at.device);
    let unread = |refusal| ReadError::Refused { host: device.at.host.clone(), what: what(), refusal };
    Ok(FeatureSet::from(read.map_err(unread)?))
}

fn compare(
    device: &Device,
    original: &Features,
    name: &str,
    on: bool,
    found: bool,
) -> Result<(), ConfigureError> {
    if on == found {
        return Ok(());
    }
    if !original.0.contains_key(name) {
        let setting = format!("{name} {}", word(on));
        return Err(unsupported(device, Switches::KIND, setting, "the driver does not allow changing it"));
    }
    Err(differs(device, name, &word(on), &word(found)))
}

fn target(original: &Features, requested: Offloads) -> BTreeMap<String, bool> {
    let mut target = original.0.clone();
    for offload in offloads(requested) {
        let Some(on) = offload.on else { continue };
        let selected: Vec<String> = selected(original, &offload).into_iter().map(str::to_owned).collect();
        for (name, value) in target.iter_mut().filter(|(name, _)| (offload.is)(name)) {
            *value = on && selected.contains(name);
        }
    }
    target
}

/// Selects the features that were enabled at creation, because the kernel leaves others off by default
/// (`tx-tcp-mangleid-segmentation`). If none was enabled at creation, selects all.
fn selected<'a>(original: &'a Features, offload: &Offload) -> Vec<&'a str> {
    let own: Vec<_> = original.0.iter().filter(|(name, _)| (offload.is)(name)).collect();
    let enabled: Vec<_> = own.iter().filter(|(_, on)| **on).map(|(name, _)| name.as_str()).collect();
    if enabled.is_empty() { own.iter().map(|(name, _)| name.as_str()).collect() } else { enabled }
}

fn word(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(original: &[(&str, bool)], requested: Offloads, expected: &[(&str, bool)]) {
        let original = Features(original.iter().map(|(name, on)| ((*name).to_owned(), *on)).collect());
        let target = target(&original, requested);
        let target: Vec<_> = target.iter().map(|(name, on)| (name.as_str(), *on)).collect();
        assert_eq!(target, expected);
    }

    const ORIGINAL: [(&str, bool); 3] =
        [("rx-gro", false), ("tx-tcp-mangleid-segmentation", false), ("tx-tcp-segmentation", true)];

    #[test]
    fn tso_off_disables_only_tcp_segmentation_features() {
        let requested = Offloads { tso: Some(false), ..Offloads::default() };
        check(
            &ORIGINAL,
            requested,
            &[("rx-gro", false), ("tx-tcp-mangleid-segmentation", false), ("tx-tcp-segmentation", false)],
        );
    }

    #[test]
    fn offload_on_enables_features_of_creation() {
        check(
            &ORIGINAL,
            Offloads::all(true),
            &[("rx-gro", true), ("tx-tcp-mangleid-segmentation", false), ("tx-tcp-segmentation", true)],
        );
    }

    #[test]
    fn resets_unrequested_offloads() {
        check(&ORIGINAL, Offloads::default(), &ORIGINAL);
    }
}
