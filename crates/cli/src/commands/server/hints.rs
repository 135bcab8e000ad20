//! Hints about properties of this machine that may slow down clients. Each is printed once per device.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use samples::DeviceState;
use server::{Client, Event, Work};

#[derive(Debug, Default)]
pub(super) struct Hints(Mutex<BTreeSet<String>>);

impl Hints {
    /// Returns a new hint after a client's stream. This runs on the client's thread, after the measurement.
    pub(super) fn after(&self, event: &Event<'_>) -> Option<String> {
        let Event::Ends { client: Client { peer, local, work: Work::Stream(_), .. }, .. } = event else {
            return None;
        };
        let device = topology::device_towards(*peer, Some(local.ip())).ok().flatten()?;
        self.of(&device)
    }

    fn of(&self, device: &DeviceState) -> Option<String> {
        let found = analysis::offloads_off(device)?;
        let mut hinted = self.0.lock();
        let remedy = found.remedy.as_ref().map(|remedy| remedy.commands.join("; ")).unwrap_or_default();
        hinted
            .insert(device.device.clone())
            .then(|| format!("hint: {} Compare before you change them: {remedy}", found.claim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_each_device_hint_once() {
        let hints = Hints::default();
        let device = |name: &str, on: bool| DeviceState {
            device: name.into(),
            kind: "vxlan".into(),
            mtu: 1450,
            features: [("tx-tcp-segmentation".to_owned(), on)].into(),
            ..DeviceState::default()
        };
        assert_eq!(hints.of(&device("vxlan0", true)), None);
        let hinted = hints.of(&device("vxlan0", false)).expect("a hint");
        assert!(hinted.contains("vxlan0") && hinted.contains("ethtool -k vxlan0"), "{hinted}");
        assert_eq!(hints.of(&device("vxlan0", false)), None);
        assert!(hints.of(&device("vxlan1", false)).is_some());
    }
}
