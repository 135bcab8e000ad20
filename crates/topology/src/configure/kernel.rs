//! Access to links and to ethtool.

use std::collections::BTreeMap;

use nlink::netlink::{Connection, Ethtool as Protocol, MessageBuilder};
use scenario::HostName;

use crate::{
    devices::Device,
    error::ConfigureError,
    ethtool::Ethtool,
    namespaces::Namespaces,
    read_back::{self, LinkFacts},
    refusal::Refusal,
};

pub(super) struct Kernel<'a> {
    pub(super) namespaces: &'a Namespaces,
    ethtool: Ethtool<'a>,
    links: BTreeMap<HostName, BTreeMap<u32, LinkFacts>>,
}

impl<'a> Kernel<'a> {
    pub(super) fn new(namespaces: &'a Namespaces) -> Self {
        Self { namespaces, ethtool: Ethtool::new(namespaces), links: BTreeMap::new() }
    }

    pub(super) fn forget_links(&mut self) {
        self.links.clear();
    }

    pub(super) fn link(&mut self, device: &Device) -> Result<&LinkFacts, ConfigureError> {
        let host = &device.at.host;
        if !self.links.contains_key(host) {
            self.links.insert(host.clone(), read_back::links(self.namespaces, host, false)?);
        }
        let link = self.links.get(host).and_then(|links| links.get(&device.index));
        link.ok_or_else(|| ConfigureError::NoDevice { device: device.at.clone() })
    }

    pub(super) fn change_link(&self, device: &Device, message: MessageBuilder) -> Result<(), Refusal> {
        let verdicts = self.namespaces.channel(&device.at.host).transact([message])?;
        verdicts.into_iter().flatten().next().map_or(Ok(()), Err)
    }

    pub(super) fn ethtool<T>(
        &mut self,
        device: &Device,
        exchange: impl AsyncFnOnce(&Connection<Protocol>, &str) -> nlink::Result<T>,
    ) -> Result<T, Refusal> {
        self.ethtool.exchange_with(&device.at, exchange)
    }
}
