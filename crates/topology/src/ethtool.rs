//! Ethtool's questions and orders over generic netlink, with one connection a host. Must not know what is asked.

use std::collections::{BTreeMap, btree_map::Entry};

use nlink::netlink::{Connection, Ethtool as Protocol};
use scenario::{DeviceRef, HostName};

use crate::{namespaces::Namespaces, refusal::Refusal};

/// The connections to the hosts that were asked.
pub(crate) struct Ethtool<'a> {
    namespaces: &'a Namespaces,
    connections: BTreeMap<HostName, Connection<Protocol>>,
}

impl<'a> Ethtool<'a> {
    pub(crate) fn new(namespaces: &'a Namespaces) -> Self {
        Self { namespaces, connections: BTreeMap::new() }
    }

    /// Has `exchange` speak about the device at `at`, by its name.
    pub(crate) fn ask<T>(
        &mut self,
        at: &DeviceRef,
        exchange: impl AsyncFnOnce(&Connection<Protocol>, &str) -> nlink::Result<T>,
    ) -> Result<T, Refusal> {
        let connection = match self.connections.entry(at.host.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(self.namespaces.ethtool(&at.host)?),
        };
        Ok(self.namespaces.wait(exchange(connection, at.device.as_str()))?)
    }
}
