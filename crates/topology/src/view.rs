//! Reads the devices and routes of an existing namespace, without changing anything there.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    os::fd::{AsFd, AsRawFd},
    sync::Arc,
};

use ipnet::IpNet;
use nlink::netlink::{
    AttrIter, MessageBuilder, NlMsgType,
    message::NLM_F_REQUEST,
    types::{RtGenMsg, netnsa},
};
use sys::netns::NetNs;
use tokio::runtime::Runtime;

use crate::{
    channel::Channel,
    outgoing_device::{self, NextHop},
    read_back::{self, LinkFacts},
    refusal::Refusal,
};

pub(crate) struct View {
    channel: Channel,
}

impl View {
    pub(crate) fn open(runtime: &Arc<Runtime>, namespace: &NetNs) -> Result<Self, Refusal> {
        // Entering the current namespace again would need privileges that reading does not need.
        let is_own = NetNs::current()? == *namespace;
        let open = || Channel::open_here(runtime);
        Ok(Self { channel: if is_own { open() } else { namespace.run_in(open)? }? })
    }

    /// Returns the ID, if any, that device attributes in this namespace use for `other`.
    pub(crate) fn id_of(&self, other: &NetNs) -> Result<Option<i32>, Refusal> {
        let mut request = MessageBuilder::new(NlMsgType::RTM_GETNSID, NLM_F_REQUEST);
        request.append(&RtGenMsg::new());
        request.append_attr_u32(netnsa::FD, other.as_fd().as_raw_fd().cast_unsigned());
        let reply = self.channel.request_one(request)?;
        let id = reply.as_deref().and_then(|reply| {
            let (_, id) = AttrIter::new(reply.get(RtGenMsg::padded_size()..)?)
                .find(|(attribute, _)| *attribute == netnsa::NSID)?;
            Some(i32::from_ne_bytes(id.try_into().ok()?))
        });
        Ok(id.filter(|id| *id >= 0))
    }

    pub(crate) fn links(&self) -> Result<BTreeMap<u32, LinkFacts>, Refusal> {
        read_back::links_of(&self.channel, true)
    }

    pub(crate) fn addresses(&self) -> Result<BTreeSet<(u32, IpNet)>, Refusal> {
        read_back::addresses_of(&self.channel)
    }

    pub(crate) fn next_hop(&self, to: IpAddr) -> Result<Option<NextHop>, Refusal> {
        outgoing_device::next_hop(&self.channel, to)
    }
}
