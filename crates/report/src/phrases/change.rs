//! Phrases for a change to a scenario.

use findings::Change;

/// Formats e.g. `offloads on at node1:vxlan0`, `MTU 1450 at node1:eth0`, `placement cross-cpu`.
pub(crate) fn change(change: &Change) -> String {
    match change {
        Change::OffloadsOn { devices } => format!("offloads on at {}", devices.join(", ")),
        Change::Mtu { devices, mtu } => format!("MTU {mtu} at {}", devices.join(", ")),
        Change::Congestion { name } => format!("congestion control {name} at both ends"),
        Change::GrowingBuffers => "autotuned buffers".to_owned(),
        Change::Placement { place } => format!("placement {place}"),
        Change::Streams { streams: 1 } => "1 connection".to_owned(),
        Change::Streams { streams } => format!("{streams} parallel connections"),
        Change::LimitMode => "limit mode".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_each_change() {
        for (tried, phrase) in [
            (
                Change::OffloadsOn { devices: vec!["a:eth0".into(), "b:eth0".into()] },
                "offloads on at a:eth0, b:eth0",
            ),
            (Change::Mtu { devices: vec!["a:eth0".into()], mtu: 1450 }, "MTU 1450 at a:eth0"),
            (Change::Congestion { name: "bbr".into() }, "congestion control bbr at both ends"),
            (Change::Placement { place: "cross-cpu".into() }, "placement cross-cpu"),
            (Change::Streams { streams: 4 }, "4 parallel connections"),
        ] {
            assert_eq!(change(&tried), phrase);
        }
    }
}
