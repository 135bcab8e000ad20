//! What of this machine is likely to limit a server's clients: said once for each device. Must not know who measures.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use samples::DeviceState;
use server::{Client, Event, Work};

/// Says each hint once.
#[derive(Debug, Default)]
pub(super) struct Hints(Mutex<BTreeSet<String>>);

impl Hints {
    /// The hint after a client's stream, if there is one that was not said before: asked for when nothing is
    /// measured any more, on that client's own thread.
    pub(super) fn after(&self, event: &Event<'_>) -> Option<String> {
        let Event::Ends { client: Client { peer, local, work: Work::Stream(_), .. }, .. } = event else {
            return None;
        };
        let device = topology::device_towards(*peer, Some(local.ip())).ok().flatten()?;
        self.of(&device)
    }

    fn of(&self, device: &DeviceState) -> Option<String> {
        let found = analysis::offloads_off(device)?;
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let remedy = found.remedy.map(|remedy| remedy.commands.join("; ")).unwrap_or_default();
        said.insert(device.device.clone()).then(|| format!("hint: {} Switch them on: {remedy}", found.claim))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_offloads_is_named_once() {
        let hints = Hints::default();
        let device = |name: &str, on: bool| DeviceState {
            device: name.into(),
            kind: "vxlan".into(),
            mtu: 1450,
            features: [("tx-tcp-segmentation".to_owned(), on)].into(),
            ..DeviceState::default()
        };
        assert_eq!(hints.of(&device("vxlan0", true)), None);
        let said = hints.of(&device("vxlan0", false)).expect("a hint");
        assert!(said.contains("vxlan0") && said.contains("ethtool -K vxlan0"), "{said}");
        assert_eq!(hints.of(&device("vxlan0", false)), None);
        assert!(hints.of(&device("vxlan1", false)).is_some());
    }
}
