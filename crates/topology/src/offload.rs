//! Offloads of a device: ethtool's features over generic netlink, switched by name and read back.
//!
//! The old ioctl knows fewer features than the kernel has: switching TSO off by it leaves
//! `tx-tcp-accecn-segmentation` on. Here an offload is every feature whose name says so.

use std::collections::BTreeMap;

use nlink::netlink::{Connection, Ethtool, genl::ethtool::Features};
use scenario::Offloads;

use crate::{refusal::Refusal, rings::QueuesAndRings};

/// The features of one device at one moment.
pub(crate) struct FeatureSet(Features);

impl From<Features> for FeatureSet {
    fn from(features: Features) -> Self {
        Self(features)
    }
}

impl FeatureSet {
    /// The features of a device, its queues and its rings.
    pub(crate) async fn read(
        connection: &Connection<Ethtool>,
        device: &str,
    ) -> nlink::Result<(Self, QueuesAndRings)> {
        let features = Self(connection.get_features_by_name(device).await?);
        Ok((features, QueuesAndRings::read(connection, device).await))
    }

    /// Those of a device in the namespace of the calling thread.
    pub(crate) async fn read_here(device: &str) -> Result<(Self, QueuesAndRings), Refusal> {
        Ok(Self::read(&Connection::<Ethtool>::new_async().await?, device).await?)
    }

    /// Every feature that the device has or could have, and whether it is active.
    pub(crate) fn active(&self) -> BTreeMap<String, bool> {
        let known = self.0.hw.iter().chain(self.0.active.iter()).chain(self.0.wanted.iter());
        known
            // The kernel's table of names has gaps, and lists them.
            .filter(|(name, _)| !name.is_empty())
            .map(|(name, _)| (name.to_owned(), self.0.is_active(name)))
            .collect()
    }

    /// The features that can be switched, and whether each is asked for (not: active).
    pub(crate) fn wanted(&self) -> BTreeMap<String, bool> {
        let switchable = self.0.hw.iter().filter(|(name, _)| self.0.is_changeable(name));
        switchable.map(|(name, _)| (name.to_owned(), self.0.wanted.is_set(name))).collect()
    }
}

/// An offload's word in scenarios, what is asked for, and which features it is.
pub(crate) struct Offload {
    pub(crate) word: &'static str,
    pub(crate) on: Option<bool>,
    pub(crate) is: fn(&str) -> bool,
}

/// The offloads in the order in which the kernel wants them switched on: segmentation needs checksums.
pub(crate) fn offloads(of: Offloads) -> [Offload; 5] {
    [
        Offload { word: "tx_checksum", on: of.tx_checksum, is: |name| name.starts_with("tx-checksum-") },
        Offload { word: "rx_checksum", on: of.rx_checksum, is: |name| name == "rx-checksum" },
        Offload { word: "gso", on: of.gso, is: |name| name == "tx-generic-segmentation" },
        Offload { word: "tso", on: of.tso, is: is_tso },
        Offload { word: "gro", on: of.gro, is: |name| name == "rx-gro" },
    ]
}

fn is_tso(name: &str) -> bool {
    name.starts_with("tx-tcp") && name.ends_with("-segmentation")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tso_is_every_tcp_segmentation_feature_and_no_other() {
        for name in ["tx-tcp-segmentation", "tx-tcp-accecn-segmentation", "tx-tcp6-segmentation"] {
            assert!(is_tso(name), "{name}");
        }
        for name in ["tx-udp-segmentation", "tx-generic-segmentation", "tx-checksum-ip-generic"] {
            assert!(!is_tso(name), "{name}");
        }
    }
}
