//! Offloads: features of ethtool, switched by name and compared by what is active.

use std::{collections::BTreeMap, fmt};

use nlink::netlink::genl::ethtool::FeaturesBuilder;
use scenario::{DeviceSettingKind, DeviceSettings, Offloads};

use super::{DeviceSetting, Kernel, differs, refused, unsupported};
use crate::{
    devices::Device,
    error::{ConfigureError, ReadError},
    offload::{FeatureSet, Offload, offloads},
    probe::{self, Trial},
};

pub(super) struct Switches;

/// The features that can be switched, and whether each is asked for.
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
        done: "switched TSO, GSO, GRO and checksums off and read them back",
        needed_for: "the cost of an offload that is off",
        remedy: "a kernel with CONFIG_ETHTOOL_NETLINK",
        required: true,
        attempt: || {
            let offloads = Offloads::all(false);
            probe::wire_with(DeviceSettings { offloads, ..DeviceSettings::default() })
        },
    });

    fn read(kernel: &mut Kernel<'_>, device: &Device) -> Result<Features, ConfigureError> {
        Ok(Features(features(kernel, device)?.wanted()))
    }

    fn target(_device: &Device, made: &Features, asked: &DeviceSettings) -> Result<Features, ConfigureError> {
        Ok(Features(target(made, asked.offloads)))
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

    /// Compares what is active with every offload that was asked for.
    fn verify(
        kernel: &mut Kernel<'_>,
        device: &Device,
        made: &Features,
        asked: &DeviceSettings,
    ) -> Result<(), ConfigureError> {
        let active = features(kernel, device)?.active();
        for offload in offloads(asked.offloads) {
            let Some(on) = offload.on else { continue };
            let features: Vec<_> = if on {
                selected(made, &offload)
            } else {
                active.keys().filter(|name| (offload.is)(name)).map(String::as_str).collect()
            };
            if on && features.is_empty() {
                let setting = format!("{} on", offload.word);
                return Err(unsupported(device, Self::KIND, setting, "it has no such feature"));
            }
            for name in features {
                compare(device, made, name, on, active.get(name).copied().unwrap_or_default())?;
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
    made: &Features,
    name: &str,
    on: bool,
    found: bool,
) -> Result<(), ConfigureError> {
    if on == found {
        return Ok(());
    }
    if !made.0.contains_key(name) {
        let setting = format!("{name} {}", word(on));
        return Err(unsupported(device, Switches::KIND, setting, "the device's driver fixes it"));
    }
    Err(differs(device, name, &word(on), &word(found)))
}

/// Every feature that can be switched, and what it is to be.
fn target(made: &Features, asked: Offloads) -> BTreeMap<String, bool> {
    let mut target = made.0.clone();
    for offload in offloads(asked) {
        let Some(on) = offload.on else { continue };
        let selected: Vec<String> = selected(made, &offload).into_iter().map(str::to_owned).collect();
        for (name, value) in target.iter_mut().filter(|(name, _)| (offload.is)(name)) {
            *value = on && selected.contains(name);
        }
    }
    target
}

/// The features that are switched on for an offload: those that the device was made with, for it may have
/// more that the kernel never switches on by itself (`tx-tcp-mangleid-segmentation`); all, if it was made
/// with none.
fn selected<'a>(made: &'a Features, offload: &Offload) -> Vec<&'a str> {
    let own: Vec<_> = made.0.iter().filter(|(name, _)| (offload.is)(name)).collect();
    let made_with: Vec<_> = own.iter().filter(|(_, on)| **on).map(|(name, _)| name.as_str()).collect();
    if made_with.is_empty() { own.iter().map(|(name, _)| name.as_str()).collect() } else { made_with }
}

fn word(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(made: &[(&str, bool)], asked: Offloads, expected: &[(&str, bool)]) {
        let made = Features(made.iter().map(|(name, on)| ((*name).to_owned(), *on)).collect());
        let target = target(&made, asked);
        let target: Vec<_> = target.iter().map(|(name, on)| (name.as_str(), *on)).collect();
        assert_eq!(target, expected);
    }

    const MADE: [(&str, bool); 3] =
        [("rx-gro", false), ("tx-tcp-mangleid-segmentation", false), ("tx-tcp-segmentation", true)];

    #[test]
    fn tso_off_switches_every_tcp_segmentation_feature_off_and_nothing_else() {
        let asked = Offloads { tso: Some(false), ..Offloads::default() };
        check(
            &MADE,
            asked,
            &[("rx-gro", false), ("tx-tcp-mangleid-segmentation", false), ("tx-tcp-segmentation", false)],
        );
    }

    #[test]
    fn an_offload_that_is_on_has_the_features_that_the_device_was_made_with() {
        check(
            &MADE,
            Offloads::all(true),
            &[("rx-gro", true), ("tx-tcp-mangleid-segmentation", false), ("tx-tcp-segmentation", true)],
        );
    }

    #[test]
    fn what_is_not_asked_for_is_as_the_device_was_made() {
        check(&MADE, Offloads::default(), &MADE);
    }
}
