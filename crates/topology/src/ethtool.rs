//! Access to ethtool over generic netlink, with one connection per host.

use std::collections::{BTreeMap, btree_map::Entry};

use nlink::netlink::{Connection, Ethtool as Protocol};
use scenario::{DeviceRef, HostName};

use crate::{namespaces::Namespaces, refusal::Refusal};

pub(crate) struct Ethtool<'a> {
    namespaces: &'a Namespaces,
    connections: BTreeMap<HostName, Connection<Protocol>>,
}

impl<'a> Ethtool<'a> {
    pub(crate) fn new(namespaces: &'a Namespaces) -> Self {
        Self { namespaces, connections: BTreeMap::new() }
    }

    pub(crate) fn exchange_with<T>(
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
