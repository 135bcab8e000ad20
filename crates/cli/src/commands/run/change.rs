//! Applies a remedy's change to a planned result.

use ::scenario::{DeviceRef, DeviceSettings, Offloads, PlannedResult};
use ::workload::{Mode, Placement, StreamSettings};
use findings::Change;
use units::Bytes;

const LIMIT_MESSAGE: Bytes = Bytes(1 << 20);
const APP_MESSAGE: Bytes = Bytes(128 << 10);

pub(super) fn applied(result: &PlannedResult, change: &Change) -> Option<PlannedResult> {
    let mut changed = result.clone();
    match change {
        Change::OffloadsOn { devices } => {
            set(&mut changed, devices, |settings| settings.offloads = Offloads::all(true))?;
        }
        Change::Mtu { devices, mtu } => set(&mut changed, devices, |settings| settings.mtu = Some(*mtu))?,
        Change::Congestion { name } => {
            changed.load.kind_mut().socket_mut()?.congestion = Some(name.clone());
        }
        Change::GrowingBuffers => changed.load.kind_mut().socket_mut()?.window = None,
        Change::Placement { place } => changed.placement = placement(place)?,
        Change::Streams { streams } => StreamSettings::of_mut(&mut changed.load)?.streams = *streams,
        Change::LimitMode => {
            let stream = StreamSettings::of_mut(&mut changed.load)?;
            stream.mode = Mode::Limit;
            if stream.message == APP_MESSAGE {
                stream.message = LIMIT_MESSAGE;
            }
        }
    }
    (changed != *result).then_some(changed)
}

fn set(result: &mut PlannedResult, devices: &[String], put: impl Fn(&mut DeviceSettings)) -> Option<()> {
    for device in devices {
        let device: DeviceRef = device.parse().ok()?;
        put(result.devices.entry(device).or_default());
    }
    Some(())
}

fn placement(place: &str) -> Option<Placement> {
    [Placement::Free, Placement::SameCpu, Placement::CrossCpu]
        .into_iter()
        .find(|known| known.to_string() == place)
}

#[cfg(test)]
mod tests {
    use ::scenario::{Plan, PlanOptions, Scenario, builtin};

    use super::*;

    fn result() -> PlannedResult {
        let quick = builtin::find("bridge-streams").expect("built in");
        let scenario = Scenario::parse(quick.name, quick.text).expect("parses");
        Plan::expand(&scenario, 0, &PlanOptions::default()).results.remove(0)
    }

    #[test]
    fn each_change_affects_one_setting() {
        let before = result();
        let devices = vec!["client:eth0".to_owned()];
        for change in [
            Change::OffloadsOn { devices: devices.clone() },
            Change::Mtu { devices, mtu: 1400 },
            Change::Congestion { name: "bbr".into() },
            Change::Placement { place: "cross-cpu".into() },
            Change::Streams { streams: 3 },
            Change::LimitMode,
        ] {
            let after = applied(&before, &change).unwrap_or_else(|| panic!("{change:?} changes something"));
            let differ = [
                before.devices != after.devices,
                before.load != after.load,
                before.placement != after.placement,
            ];
            assert_eq!(differ.iter().filter(|differs| **differs).count(), 1, "{change:?}");
            assert_eq!(applied(&after, &change), None, "{change:?} again");
        }
    }

    #[test]
    fn ignores_changes_without_effect() {
        for change in [Change::GrowingBuffers, Change::Placement { place: "everywhere".into() }] {
            assert_eq!(applied(&result(), &change), None, "{change:?}");
        }
    }
}
