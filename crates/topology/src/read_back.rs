//! Reads back links and addresses (rtnetlink(7), linux/if_link.h).

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use ipnet::IpNet;
use nlink::netlink::{
    AttrIter, MessageBuilder, NlMsgType,
    genl::ethtool::Coalesce,
    message::NLM_F_REQUEST,
    types::{
        addr::{IfAddrMsg, IfaAttr},
        link::{IfInfoMsg, IflaAttr, IflaInfo},
    },
};
use samples::{Coalescing, DeviceCounters, DeviceState};
use scenario::{DeviceRef, HostName};
use units::Bytes;

use crate::{
    channel::Channel, device_kind::DeviceKind, devices::Devices, error::ReadError, ethtool::Ethtool,
    message::link_header, namespaces::Namespaces, offload::FeatureSet, refusal::Refusal,
    rings::QueuesAndRings,
};

/// `RTEXT_FILTER_SKIP_STATS`.
const WITHOUT_COUNTERS: u32 = 1 << 3;
/// `IF_OPER_UP`.
pub(crate) const OPERATIONAL: u8 = 6;
/// `BR_STATE_FORWARDING`.
pub(crate) const FORWARDING: u8 = 3;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LinkFacts {
    pub(crate) index: u32,
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) mac: Vec<u8>,
    pub(crate) mtu: u32,
    pub(crate) master: Option<u32>,
    /// The index of the underlying device or, for a veth device, of its peer.
    pub(crate) lower: Option<u32>,
    /// The ID of `lower`'s namespace, if it is not this device's own.
    pub(crate) lower_namespace: Option<i32>,
    pub(crate) queues: [u32; 2],
    pub(crate) operstate: u8,
    pub(crate) port_state: Option<u8>,
    pub(crate) qdisc: String,
    pub(crate) sizes: Sizes,
    pub(crate) data: Vec<u8>,
    pub(crate) counters: DeviceCounters,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) gso: u32,
    pub(crate) gro: u32,
    pub(crate) gso_ipv4: u32,
    pub(crate) gro_ipv4: u32,
    pub(crate) most: u32,
}

pub(crate) fn links(
    namespaces: &Namespaces,
    host: &HostName,
    counters: bool,
) -> Result<BTreeMap<u32, LinkFacts>, ReadError> {
    links_of(namespaces.channel(host), counters).map_err(|refusal| unread(host, "its links", refusal))
}

pub(crate) fn links_of(channel: &Channel, counters: bool) -> Result<BTreeMap<u32, LinkFacts>, Refusal> {
    let mut request = MessageBuilder::new(NlMsgType::RTM_GETLINK, NLM_F_REQUEST);
    request.append(&link_header(0));
    request.append_attr_u32(IflaAttr::ExtMask as u16, if counters { 0 } else { WITHOUT_COUNTERS });
    let payloads = channel.dump(request)?;
    Ok(payloads.iter().filter_map(|payload| link(payload)).map(|link| (link.index, link)).collect())
}

/// Unlike a dump, this makes the kernel process pending carrier events (`linkwatch_sync_dev` in net/core/rtnetlink.c).
pub(crate) fn link_requests(indexes: &[u32]) -> Vec<MessageBuilder> {
    let request_for = |index: &u32| {
        let mut request = MessageBuilder::new(NlMsgType::RTM_GETLINK, NLM_F_REQUEST);
        request.append(&link_header(*index));
        request.append_attr_u32(IflaAttr::ExtMask as u16, WITHOUT_COUNTERS);
        request
    };
    indexes.iter().map(request_for).collect()
}

pub(crate) fn addresses(
    namespaces: &Namespaces,
    host: &HostName,
) -> Result<BTreeSet<(u32, IpNet)>, ReadError> {
    addresses_of(namespaces.channel(host)).map_err(|refusal| unread(host, "its addresses", refusal))
}

pub(crate) fn addresses_of(channel: &Channel) -> Result<BTreeSet<(u32, IpNet)>, Refusal> {
    let mut request = MessageBuilder::new(NlMsgType::RTM_GETADDR, NLM_F_REQUEST);
    request.append(&IfAddrMsg::default());
    let payloads = channel.dump(request)?;
    Ok(payloads.iter().filter_map(|payload| address(payload)).collect())
}

pub(crate) fn states(
    namespaces: &Namespaces,
    devices: &Devices,
    wanted: &[DeviceRef],
) -> Result<Vec<DeviceState>, ReadError> {
    let mut by_host: BTreeMap<&HostName, BTreeMap<u32, LinkFacts>> = BTreeMap::new();
    for at in wanted {
        let device = devices.find(at).ok_or_else(|| ReadError::Unknown { what: format!("device `{at}`") })?;
        if !by_host.contains_key(&device.at.host) {
            by_host.insert(&device.at.host, links(namespaces, &at.host, true)?);
        }
    }
    let mut ethtool = Ethtool::new(namespaces);
    let state = |at: &DeviceRef| {
        let device = devices.find(at).ok_or_else(|| absent(at))?;
        let link = by_host.get(&at.host).and_then(|links| links.get(&device.index));
        let link = link.ok_or_else(|| absent(at))?;
        let read = ethtool.exchange_with(at, async |ethtool, name| FeatureSet::read(ethtool, name).await);
        let (features, queues_and_rings) = read.map_err(|refusal| ReadError::Refused {
            host: at.host.clone(),
            what: format!("the features of `{}`", at.device),
            refusal,
        })?;
        let state = link.state(at.to_string(), device.kind, &features, queues_and_rings);
        let virtio = if device.kind == DeviceKind::Virtio { namespaces.negotiated(at) } else { None };
        let found = ethtool.exchange_with(at, async |ethtool, name| ethtool.get_coalesce_by_name(name).await);
        let coalescing = found.ok().map(|found| coalescing(&found));
        Ok(DeviceState { coalescing, spread: namespaces.affinity_of(at), virtio, ..state })
    };
    wanted.iter().map(state).collect()
}

pub(crate) fn coalescing(found: &Coalesce) -> Coalescing {
    Coalescing {
        rx_usecs: found.rx_usecs,
        rx_frames: found.rx_max_frames,
        tx_usecs: found.tx_usecs,
        tx_frames: found.tx_max_frames,
        adaptive_rx: found.use_adaptive_rx,
        adaptive_tx: found.use_adaptive_tx,
    }
}

pub(crate) fn link_at(channel: &Channel, index: u32) -> Result<Option<LinkFacts>, Refusal> {
    let mut request = MessageBuilder::new(NlMsgType::RTM_GETLINK, NLM_F_REQUEST);
    request.append(&link_header(index));
    requested_link(channel, request)
}

pub(crate) fn requested_link(
    channel: &Channel,
    request: MessageBuilder,
) -> Result<Option<LinkFacts>, Refusal> {
    Ok(channel.request_one(request)?.and_then(|payload| link(&payload)))
}

impl LinkFacts {
    /// Whether the device can carry traffic. Tunnels and bridges do not report this.
    pub(crate) fn carries(&self) -> bool {
        self.operstate == OPERATIONAL && self.port_state.is_none_or(|state| state == FORWARDING)
    }

    pub(crate) fn state(
        &self,
        device: String,
        kind: DeviceKind,
        features: &FeatureSet,
        queues_and_rings: QueuesAndRings,
    ) -> DeviceState {
        let (gso_ipv4, gro_ipv4) = self.sizes.ipv4_sizes();
        DeviceState {
            device,
            kind: kind.word().to_owned(),
            mtu: self.mtu,
            features: features.active(),
            gso_max_size: Some(Bytes(gso_ipv4.into())),
            gro_max_size: Some(Bytes(gro_ipv4.into())),
            queues: queues_and_rings.queues,
            rings: queues_and_rings.rings,
            coalescing: None,
            spread: None,
            virtio: None,
        }
    }
}

fn absent(at: &DeviceRef) -> ReadError {
    ReadError::Absent { host: at.host.clone(), what: format!("device `{}`", at.device) }
}

fn unread(host: &HostName, what: &str, refusal: Refusal) -> ReadError {
    ReadError::Refused { host: host.clone(), what: what.to_owned(), refusal }
}

fn link(payload: &[u8]) -> Option<LinkFacts> {
    let index = u32_at(payload.get(4..)?)?;
    let mut facts = LinkFacts { index, ..LinkFacts::default() };
    for (attribute, value) in AttrIter::new(payload.get(IfInfoMsg::SIZE..)?) {
        take_link_attribute(&mut facts, attribute, value);
    }
    Some(facts)
}

fn take_link_attribute(facts: &mut LinkFacts, attribute: u16, value: &[u8]) {
    let number = || u32_at(value).unwrap_or_default();
    match IflaAttr::from(attribute) {
        IflaAttr::Ifname => facts.name = text(value),
        IflaAttr::Address => facts.mac = value.to_vec(),
        IflaAttr::Mtu => facts.mtu = number(),
        IflaAttr::Master => facts.master = Some(number()),
        IflaAttr::Link => facts.lower = Some(number()),
        IflaAttr::LinkNetnsid => facts.lower_namespace = Some(number().cast_signed()),
        IflaAttr::NumRxQueues => facts.queues[0] = number(),
        IflaAttr::NumTxQueues => facts.queues[1] = number(),
        IflaAttr::Operstate => facts.operstate = value.first().copied().unwrap_or_default(),
        IflaAttr::Qdisc => facts.qdisc = text(value),
        IflaAttr::GsoMaxSize => facts.sizes.gso = number(),
        IflaAttr::GroMaxSize => facts.sizes.gro = number(),
        IflaAttr::GsoIpv4MaxSize => facts.sizes.gso_ipv4 = number(),
        IflaAttr::GroIpv4MaxSize => facts.sizes.gro_ipv4 = number(),
        IflaAttr::TsoMaxSize => facts.sizes.most = number(),
        IflaAttr::Stats64 => facts.counters = counters(value).unwrap_or_default(),
        IflaAttr::Linkinfo => take_info(facts, value),
        _ => {}
    }
}

fn take_info(facts: &mut LinkFacts, info: &[u8]) {
    /// `IFLA_BRPORT_STATE`.
    const PORT_STATE: u16 = 1;
    for (attribute, value) in AttrIter::new(info) {
        if attribute == IflaInfo::Kind as u16 {
            facts.kind = text(value);
        } else if attribute == IflaInfo::Data as u16 {
            facts.data = value.to_vec();
        } else if attribute == IflaInfo::SlaveData as u16 {
            let state = AttrIter::new(value).find(|(attribute, _)| *attribute == PORT_STATE);
            facts.port_state = state.and_then(|(_, value)| value.first().copied());
        }
    }
}

fn counters(value: &[u8]) -> Option<DeviceCounters> {
    let field = |n: usize| Some(u64::from_ne_bytes(value.get(n * 8..n * 8 + 8)?.try_into().ok()?));
    Some(DeviceCounters {
        rx_packets: field(0)?,
        tx_packets: field(1)?,
        rx_bytes: Bytes(field(2)?),
        tx_bytes: Bytes(field(3)?),
        rx_dropped: field(6)?,
        tx_dropped: field(7)?,
        rx_errors: field(4)?,
        tx_errors: field(5)?,
        ..DeviceCounters::default()
    })
}

fn address(payload: &[u8]) -> Option<(u32, IpNet)> {
    let prefix = *payload.get(1)?;
    let index = u32_at(payload.get(4..)?)?;
    let attributes = payload.get(IfAddrMsg::SIZE..)?;
    let find = |wanted: IfaAttr| AttrIter::new(attributes).find(|(attribute, _)| *attribute == wanted as u16);
    // IPv6 addresses have this attribute only if they are point-to-point.
    let (_, local) = find(IfaAttr::Local).or_else(|| find(IfaAttr::Address))?;
    Some((index, IpNet::new(ip(local)?, prefix).ok()?))
}

pub(crate) fn is_global(address: IpAddr) -> bool {
    let is_link_local = matches!(address, IpAddr::V6(address) if address.is_unicast_link_local());
    !address.is_loopback() && !is_link_local
}

pub(crate) fn ip(bytes: &[u8]) -> Option<IpAddr> {
    let ipv4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from).ok();
    ipv4.or_else(|| <[u8; 16]>::try_from(bytes).map(IpAddr::from).ok())
}

pub(crate) fn u32_at(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?))
}

pub(crate) fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}
