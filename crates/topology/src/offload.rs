//! Offloads: ethtool features, read and set over generic netlink.
//!
//! The ioctl interface does not cover all features. For example, disabling TSO with it leaves
//! `tx-tcp-accecn-segmentation` on.

use std::collections::BTreeMap;

use nlink::netlink::{Connection, Ethtool, genl::ethtool::Features};
use scenario::Offloads;

use crate::{refusal::Refusal, rings::QueuesAndRings};

pub(crate) struct FeatureSet(Features);

impl From<Features> for FeatureSet {
    fn from(features: Features) -> Self {
        Self(features)
    }
}

impl FeatureSet {
    pub(crate) async fn read(
        connection: &Connection<Ethtool>,
        device: &str,
    ) -> nlink::Result<(Self, QueuesAndRings)> {
        let features = Self(connection.get_features_by_name(device).await?);
        Ok((features, QueuesAndRings::read(connection, device).await))
    }

    pub(crate) async fn read_here(device: &str) -> Result<(Self, QueuesAndRings), Refusal> {
        Ok(Self::read(&Connection::<Ethtool>::new_async().await?, device).await?)
    }

    pub(crate) fn active(&self) -> BTreeMap<String, bool> {
        let known = self.0.hw.iter().chain(self.0.active.iter()).chain(self.0.wanted.iter());
        known
            .filter(|(name, _)| !name.is_empty())
            .map(|(name, _)| (name.to_owned(), self.0.is_active(name)))
            .collect()
    }

    /// A feature can be wanted without being active.
    pub(crate) fn wanted(&self) -> BTreeMap<String, bool> {
        let switchable = self.0.hw.iter().filter(|(name, _)| self.0.is_changeable(name));
        switchable.map(|(name, _)| (name.to_owned(), self.0.wanted.is_set(name))).collect()
    }
}

pub(crate) struct Offload {
    pub(crate) word: &'static str,
    pub(crate) on: Option<bool>,
    pub(crate) is: fn(&str) -> bool,
}

/// Returns the offloads in the order that the kernel requires: checksums first, because segmentation needs them.
pub(crate) fn offloads(requested: Offloads) -> [Offload; 5] {
    [
        Offload {
            word: "tx_checksum",
            on: requested.tx_checksum,
            is: |name| name.starts_with("tx-checksum-"),
        },
        Offload { word: "rx_checksum", on: requested.rx_checksum, is: |name| name == "rx-checksum" },
        Offload { word: "gso", on: requested.gso, is: |name| name == "tx-generic-segmentation" },
        Offload { word: "tso", on: requested.tso, is: is_tso },
        Offload { word: "gro", on: requested.gro, is: |name| name == "rx-gro" },
    ]
}

fn is_tso(name: &str) -> bool {
    name.starts_with("tx-tcp") && name.ends_with("-segmentation")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tso_includes_all_tcp_segmentation_features() {
        for name in ["tx-tcp-segmentation", "tx-tcp-accecn-segmentation", "tx-tcp6-segmentation"] {
            assert!(is_tso(name), "{name}");
        }
        for name in ["tx-udp-segmentation", "tx-generic-segmentation", "tx-checksum-ip-generic"] {
            assert!(!is_tso(name), "{name}");
        }
    }
}
