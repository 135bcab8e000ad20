//! Differences in load, placement, sockets and devices between two runs' results. Each difference is listed once.

use std::collections::BTreeMap;

use findings::EnvironmentChange;
use samples::DeviceState;

use super::matching::Pair;
use crate::{
    observations::Observations,
    sockets,
    words::{count, list},
    workload_summary,
};

/// If more than this many offloads of a device differ, they are counted instead of listed.
const MOST_OFFLOADS: usize = 4;
const WEIGHTY: [&str; 5] = ["segmentation", "gro", "gso", "checksum", "scatter"];

pub(super) fn changes(pairs: &[Pair<'_, '_>]) -> Vec<EnvironmentChange> {
    let mut found: Vec<(EnvironmentChange, Vec<&str>)> = Vec::new();
    for (a, b) in pairs {
        for change in of_result(a, b) {
            match found.iter_mut().find(|(known, _)| *known == change) {
                Some((_, results)) => results.push(&a.record.id),
                None => found.push((change, vec![&a.record.id])),
            }
        }
    }
    found.into_iter().map(|(change, results)| in_results(change, &results, pairs.len())).collect()
}

fn in_results(change: EnvironmentChange, results: &[&str], all: usize) -> EnvironmentChange {
    if results.len() == all {
        return change;
    }
    EnvironmentChange { property: format!("{} ({})", change.property, list(results)), ..change }
}

fn of_result(a: &Observations<'_>, b: &Observations<'_>) -> Vec<EnvironmentChange> {
    let load = |result: &Observations<'_>| workload_summary::of(&result.record.sent, "free", &[]);
    let mut changes: Vec<EnvironmentChange> = [
        differs("workload", load(a), load(b), true),
        differs("placement", a.record.placement.clone(), b.record.placement.clone(), true),
        congestion(a, b),
        path_mtu(a, b),
    ]
    .into_iter()
    .flatten()
    .collect();
    changes.extend(devices(a, b));
    changes
}

/// Compares the effective settings rather than the requested ones.
fn congestion(a: &Observations<'_>, b: &Observations<'_>) -> Option<EnvironmentChange> {
    let given = |result: &Observations<'_>| {
        let ends = sockets::ends(result.trials().map(|trial| &trial.measurement));
        ends.into_iter().find_map(|end| end.socket.congestion)
    };
    differs("congestion control", given(a)?, given(b)?, true)
}

fn path_mtu(a: &Observations<'_>, b: &Observations<'_>) -> Option<EnvironmentChange> {
    let mtu = |result: &Observations<'_>| result.trials().filter_map(|trial| trial.path_check.mtu).min();
    differs(&format!("path MTU of {}", a.record.path), mtu(a)?.to_string(), mtu(b)?.to_string(), true)
}

fn devices(a: &Observations<'_>, b: &Observations<'_>) -> Vec<EnvironmentChange> {
    let of = |result: &Observations<'_>| -> BTreeMap<String, DeviceState> {
        let devices = result.trials().next().map(|trial| trial.devices.as_slice()).unwrap_or_default();
        devices.iter().map(|device| (device.device.clone(), device.clone())).collect()
    };
    let (one, mut other) = (of(a), of(b));
    if one.is_empty() || other.is_empty() {
        return Vec::new();
    }
    let mut changes: Vec<EnvironmentChange> = Vec::new();
    for (name, device) in &one {
        match other.remove(name) {
            Some(same) => changes.extend(of_device(device, &same)),
            None => {
                changes.extend(differs(&format!("device {name}"), device.kind.clone(), "none".into(), true));
            }
        }
    }
    changes.extend(
        other.values().filter_map(|new| {
            differs(&format!("device {}", new.device), "none".into(), new.kind.clone(), true)
        }),
    );
    changes
}

fn of_device(a: &DeviceState, b: &DeviceState) -> Vec<EnvironmentChange> {
    let of = |what: &str| format!("{what} of {}", a.device);
    let kind = differs(&of("kind"), a.kind.clone(), b.kind.clone(), true);
    // A setting that one run lacks is not a difference.
    let setting =
        |fact: samples::DeviceSettingFact| differs(&of(fact.noun), (fact.of)(a)?, (fact.of)(b)?, true);
    let settings = DeviceState::SETTINGS.into_iter().filter_map(setting);
    let mut changes: Vec<EnvironmentChange> = kind.into_iter().chain(settings).collect();
    changes.extend(offloads(a, b));
    changes
}

fn offloads(a: &DeviceState, b: &DeviceState) -> Vec<EnvironmentChange> {
    let word = |on: bool| if on { "on" } else { "off" }.to_owned();
    let both = a.features.iter().filter_map(|(name, on)| Some((name, *on, *b.features.get(name)?)));
    let changed: Vec<EnvironmentChange> = both
        .filter_map(|(name, one, other)| {
            let important = WEIGHTY.iter().any(|part| name.contains(part));
            differs(&format!("offload {name} of {}", a.device), word(one), word(other), important)
        })
        .collect();
    if changed.len() <= MOST_OFFLOADS {
        return changed;
    }
    let on =
        |of: fn(&EnvironmentChange) -> &String| changed.iter().filter(|change| of(change) == "on").count();
    let words = |on: usize| format!("{on} of these on");
    let property = format!("{} of {}", count(changed.len(), "offload"), a.device);
    let important = changed.iter().any(|change| change.important);
    let (a, b) = (words(on(|change| &change.a)), words(on(|change| &change.b)));
    vec![EnvironmentChange { property, a, b, important }]
}

pub(crate) fn differs(what: &str, a: String, b: String, important: bool) -> Option<EnvironmentChange> {
    (a != b).then(|| EnvironmentChange { property: what.to_owned(), a, b, important })
}
