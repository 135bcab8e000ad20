//! The settings that are features: offloads, switched by name and compared by what is active.

use std::collections::BTreeMap;

use scenario::Offloads;

use super::{Original, refused};
use crate::{
    devices::Device,
    error::ConfigureError,
    missing::Element,
    offload::{Offload, Reader, offloads},
};

/// Switches what differs from what is asked for now.
pub(super) fn set(
    reader: &mut Reader<'_>,
    device: &Device,
    original: &Original,
    asked: Offloads,
) -> Result<(), ConfigureError> {
    let target = target(original, asked);
    let now = reader.read(&device.at)?.wanted();
    let changes: BTreeMap<_, _> =
        target.into_iter().filter(|(name, on)| now.get(name).is_some_and(|now| now != on)).collect();
    if changes.is_empty() {
        return Ok(());
    }
    reader.switch(&device.at, &changes).map_err(|refusal| {
        let setting = changes.iter().map(|(name, on)| format!("{name} {}", word(*on)));
        let setting = setting.collect::<Vec<_>>().join(", ");
        refused(device, Element::Offloads(device.at.clone()), setting, refusal)
    })
}

/// Compares what is active with every offload that was asked for.
pub(super) fn verify(
    reader: &mut Reader<'_>,
    device: &Device,
    original: &Original,
    asked: Offloads,
) -> Result<(), ConfigureError> {
    let active = reader.read(&device.at)?.active();
    for offload in offloads(asked) {
        let Some(on) = offload.on else { continue };
        let features: Vec<_> = if on {
            selected(original, &offload)
        } else {
            active.keys().filter(|name| (offload.is)(name)).map(String::as_str).collect()
        };
        if on && features.is_empty() {
            return Err(unsupported(device, format!("{} on", offload.word), "it has no such feature".into()));
        }
        for name in features {
            compare(device, original, name, on, active.get(name).copied().unwrap_or_default())?;
        }
    }
    Ok(())
}

fn compare(
    device: &Device,
    original: &Original,
    name: &str,
    on: bool,
    found: bool,
) -> Result<(), ConfigureError> {
    if on == found {
        return Ok(());
    }
    if !original.features.contains_key(name) {
        let setting = format!("{name} {}", word(on));
        return Err(unsupported(device, setting, "the device's driver fixes it".into()));
    }
    Err(ConfigureError::Differs {
        device: device.at.clone(),
        setting: name.to_owned(),
        wanted: word(on).into(),
        found: word(found).into(),
    })
}

/// Every feature that can be switched, and what it is to be.
fn target(original: &Original, asked: Offloads) -> BTreeMap<String, bool> {
    let mut target = original.features.clone();
    for offload in offloads(asked) {
        let Some(on) = offload.on else { continue };
        let selected: Vec<String> = selected(original, &offload).into_iter().map(str::to_owned).collect();
        for (name, value) in target.iter_mut().filter(|(name, _)| (offload.is)(name)) {
            *value = on && selected.contains(name);
        }
    }
    target
}

/// The features that are switched on for an offload: those that the device was made with, for it may have
/// more that the kernel never switches on by itself (`tx-tcp-mangleid-segmentation`); all, if it was made
/// with none.
fn selected<'a>(original: &'a Original, offload: &Offload) -> Vec<&'a str> {
    let own: Vec<_> = original.features.iter().filter(|(name, _)| (offload.is)(name)).collect();
    let made_with: Vec<_> = own.iter().filter(|(_, on)| **on).map(|(name, _)| name.as_str()).collect();
    if made_with.is_empty() { own.iter().map(|(name, _)| name.as_str()).collect() } else { made_with }
}

fn unsupported(device: &Device, setting: String, reason: String) -> ConfigureError {
    let element = Element::Offloads(device.at.clone());
    ConfigureError::Unsupported { element, setting, reason }
}

fn word(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn original(features: &[(&str, bool)]) -> Original {
        Original {
            mtu: 1500,
            sizes: crate::read_back::Sizes::default(),
            queues: None,
            features: features.iter().map(|(name, on)| ((*name).to_owned(), *on)).collect(),
        }
    }

    fn check(made: &[(&str, bool)], asked: Offloads, expected: &[(&str, bool)]) {
        let target = target(&original(made), asked);
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
