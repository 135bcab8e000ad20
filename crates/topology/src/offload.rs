//! Offloads of a device: ethtool's features over generic netlink, switched by name and read back.
//!
//! The old ioctl knows fewer features than the kernel has: switching TSO off by it leaves
//! `tx-tcp-accecn-segmentation` on. Here an offload is every feature whose name says so.

use std::collections::{BTreeMap, btree_map::Entry};

use nlink::netlink::{
    Connection, Ethtool,
    genl::ethtool::{Channels, ChannelsBuilder, Features},
};
use scenario::{DeviceRef, HostName, Offloads};

use crate::{error::ReadError, namespaces::Namespaces, refusal::Refusal, rings::QueuesAndRings};

/// The features of one device at one moment.
pub(crate) struct FeatureSet(Features);

/// Reads and switches features, and channels beside them, with one connection a host.
pub(crate) struct Reader<'a> {
    namespaces: &'a Namespaces,
    connections: BTreeMap<HostName, Connection<Ethtool>>,
}

impl FeatureSet {
    /// The features of a device in the namespace of the calling thread, its queues and its rings.
    pub(crate) async fn read_here(device: &str) -> Result<(Self, QueuesAndRings), Refusal> {
        let connection = Connection::<Ethtool>::new_async().await?;
        let features = Self(connection.get_features_by_name(device).await?);
        Ok((features, QueuesAndRings::read(&connection, device).await))
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

impl<'a> Reader<'a> {
    pub(crate) fn new(namespaces: &'a Namespaces) -> Self {
        Self { namespaces, connections: BTreeMap::new() }
    }

    /// The features of the device at `at`.
    pub(crate) fn read(&mut self, at: &DeviceRef) -> Result<FeatureSet, ReadError> {
        self.try_read(at).map_err(|refusal| ReadError::Refused {
            host: at.host.clone(),
            what: format!("the features of `{}`", at.device),
            refusal,
        })
    }

    /// Switches these features of the device at `at`.
    pub(crate) fn switch(&mut self, at: &DeviceRef, to: &BTreeMap<String, bool>) -> Result<(), Refusal> {
        let namespaces = self.namespaces;
        let connection = self.connection(&at.host)?;
        let switched = connection.set_features_by_name(at.device.as_str(), |features| {
            to.iter().fold(
                features,
                |features, (name, on)| {
                    if *on { features.enable(name) } else { features.disable(name) }
                },
            )
        });
        Ok(namespaces.wait(switched)?)
    }

    /// The channels of the device at `at`.
    pub(crate) fn channels(&mut self, at: &DeviceRef) -> Result<Channels, Refusal> {
        let namespaces = self.namespaces;
        let connection = self.connection(&at.host)?;
        Ok(namespaces.wait(connection.get_channels_by_name(at.device.as_str()))?)
    }

    /// The queues that the device at `at` uses, and the packets that its rings hold.
    pub(crate) fn queues_and_rings(&mut self, at: &DeviceRef) -> QueuesAndRings {
        let namespaces = self.namespaces;
        let Ok(connection) = self.connection(&at.host) else { return QueuesAndRings::default() };
        namespaces.wait(QueuesAndRings::read(connection, at.device.as_str()))
    }

    /// Sets the channels of the device at `at`.
    pub(crate) fn set_channels(
        &mut self,
        at: &DeviceRef,
        to: impl FnOnce(ChannelsBuilder) -> ChannelsBuilder,
    ) -> Result<(), Refusal> {
        let namespaces = self.namespaces;
        let connection = self.connection(&at.host)?;
        Ok(namespaces.wait(connection.set_channels_by_name(at.device.as_str(), to))?)
    }

    fn try_read(&mut self, at: &DeviceRef) -> Result<FeatureSet, Refusal> {
        let namespaces = self.namespaces;
        let connection = self.connection(&at.host)?;
        Ok(FeatureSet(namespaces.wait(connection.get_features_by_name(at.device.as_str()))?))
    }

    fn connection(&mut self, host: &HostName) -> Result<&Connection<Ethtool>, Refusal> {
        match self.connections.entry(host.clone()) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => Ok(new.insert(self.namespaces.ethtool(host)?)),
        }
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
