//! Hints about settings of this machine that slow down clients. Each hint is printed only once.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use samples::DeviceState;
use server::{Client, Event, Work};

#[derive(Debug, Default)]
pub(super) struct Hints(Mutex<BTreeSet<String>>);

impl Hints {
    /// Returns a new hint when the server starts or a client's stream ends. After a stream, runs on the client's
    /// thread.
    pub(super) fn after(&self, event: &Event<'_>) -> Option<String> {
        if let Event::Listening { confinement: Some(_), .. } = event {
            return limited_congestion(
                &sys::socket::available_congestion(),
                &sys::socket::allowed_congestion(),
            );
        }
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
        hinted.insert(device.device.clone()).then(|| {
            format!(
                "hint: {} Measure with offloads on and off before changing the settings permanently: {remedy}",
                found.claim()
            )
        })
    }
}

/// A confined server lacks CAP_NET_ADMIN, so it can only set algorithms that all users may set.
fn limited_congestion(available: &[String], allowed: &[String]) -> Option<String> {
    let refused: Vec<&str> =
        available.iter().filter(|name| !allowed.contains(name)).map(String::as_str).collect();
    (!refused.is_empty()).then(|| {
        format!(
            "hint: for -R, clients may choose {} for congestion control, but not {}; to allow more: \
             sysctl -w net.ipv4.tcp_allowed_congestion_control=\"{}\"",
            allowed.join(" or "),
            refused.join(" or "),
            available.join(" ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_congestion_controls_that_a_confined_server_may_not_use() {
        let list = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let of = |allowed: &[&str]| limited_congestion(&list(&["reno", "bbr", "cubic"]), &list(allowed));
        assert_eq!(of(&["cubic", "reno", "bbr"]), None);
        let hint = of(&["reno", "bbr"]).expect("cubic is not allowed");
        assert!(hint.contains("choose reno or bbr for") && hint.contains("not cubic"), "{hint}");
        assert!(hint.contains("=\"reno bbr cubic\""), "{hint}");
    }

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
