//! Differences in load, placement, sockets and devices between the results of two runs, each listed once.

use std::collections::BTreeMap;

use findings::SurroundingChange;
use samples::DeviceState;

use super::{environment::differs, matching::Pair};
use crate::{
    observations::Observations,
    sockets,
    words::{count, list},
    workload_summary,
};

/// More differences of offloads at one device are counted, not listed.
const MOST_OFFLOADS: usize = 4;
/// Offloads that affect packet sizes or checksums.
const WEIGHTY: [&str; 5] = ["segmentation", "gro", "gso", "checksum", "scatter"];

/// Every difference, in the order of the cells.
pub(super) fn changes(pairs: &[Pair<'_, '_>]) -> Vec<SurroundingChange> {
    let mut found: Vec<(SurroundingChange, Vec<&str>)> = Vec::new();
    for (a, b) in pairs {
        for change in of_cell(a, b) {
            match found.iter_mut().find(|(known, _)| *known == change) {
                Some((_, cells)) => cells.push(&a.record.id),
                None => found.push((change, vec![&a.record.id])),
            }
        }
    }
    found.into_iter().map(|(change, cells)| in_cells(change, &cells, pairs.len())).collect()
}

/// Names the cells that show it, unless all do.
fn in_cells(change: SurroundingChange, cells: &[&str], all: usize) -> SurroundingChange {
    if cells.len() == all {
        return change;
    }
    SurroundingChange { what: format!("{} ({})", change.what, list(cells)), ..change }
}

fn of_cell(a: &Observations<'_>, b: &Observations<'_>) -> Vec<SurroundingChange> {
    let load = |cell: &Observations<'_>| workload_summary::of(&cell.record.sent, "free", &[]);
    let mut changes: Vec<SurroundingChange> = [
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

/// Effective settings, which may differ from the requested ones.
fn congestion(a: &Observations<'_>, b: &Observations<'_>) -> Option<SurroundingChange> {
    let given = |cell: &Observations<'_>| {
        let ends = sockets::ends(cell.trials().map(|trial| &trial.measurement));
        ends.into_iter().find_map(|end| end.socket.congestion)
    };
    differs("congestion control", given(a)?, given(b)?, true)
}

fn path_mtu(a: &Observations<'_>, b: &Observations<'_>) -> Option<SurroundingChange> {
    let mtu = |cell: &Observations<'_>| cell.trials().filter_map(|trial| trial.path_check.mtu).min();
    differs(&format!("path MTU of {}", a.record.path), mtu(a)?.to_string(), mtu(b)?.to_string(), true)
}

fn devices(a: &Observations<'_>, b: &Observations<'_>) -> Vec<SurroundingChange> {
    let of = |cell: &Observations<'_>| -> BTreeMap<String, DeviceState> {
        let devices = cell.trials().next().map(|trial| trial.devices.as_slice()).unwrap_or_default();
        devices.iter().map(|device| (device.device.clone(), device.clone())).collect()
    };
    let (one, mut other) = (of(a), of(b));
    // Logs of other tools have no devices.
    if one.is_empty() || other.is_empty() {
        return Vec::new();
    }
    let mut changes: Vec<SurroundingChange> = Vec::new();
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

fn of_device(a: &DeviceState, b: &DeviceState) -> Vec<SurroundingChange> {
    let of = |what: &str| format!("{what} of {}", a.device);
    let kind = differs(&of("kind"), a.kind.clone(), b.kind.clone(), true);
    // Settings missing in one run do not count as different.
    let setting =
        |fact: samples::DeviceSettingFact| differs(&of(fact.noun), (fact.of)(a)?, (fact.of)(b)?, true);
    let settings = DeviceState::SETTINGS.into_iter().filter_map(setting);
    let mut changes: Vec<SurroundingChange> = kind.into_iter().chain(settings).collect();
    changes.extend(offloads(a, b));
    changes
}

fn offloads(a: &DeviceState, b: &DeviceState) -> Vec<SurroundingChange> {
    let word = |on: bool| if on { "on" } else { "off" }.to_owned();
    let both = a.features.iter().filter_map(|(name, on)| Some((name, *on, *b.features.get(name)?)));
    let changed: Vec<SurroundingChange> = both
        .filter_map(|(name, one, other)| {
            let weighty = WEIGHTY.iter().any(|part| name.contains(part));
            differs(&format!("offload {name} of {}", a.device), word(one), word(other), weighty)
        })
        .collect();
    if changed.len() <= MOST_OFFLOADS {
        return changed;
    }
    let on =
        |of: fn(&SurroundingChange) -> &String| changed.iter().filter(|change| of(change) == "on").count();
    let words = |on: usize| format!("{on} of these on");
    let what = format!("{} of {}", count(changed.len(), "offload"), a.device);
    let weighty = changed.iter().any(|change| change.weighty);
    let (a, b) = (words(on(|change| &change.a)), words(on(|change| &change.b)));
    vec![SurroundingChange { what, a, b, weighty }]
}
