//! What the devices and hosts of a path have counted so far: one dump of links and one of queueing disciplines for each
//! host, and where it translates addresses its counters of that (rtnetlink(7), linux/gen_stats.h, nf_conntrack-sysctl in
//! the kernel's documentation). Differences of two readings say what a trial did. Must not know what is a trial.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use nlink::netlink::{
    AttrIter, MessageBuilder, NlMsgType,
    message::NLM_F_REQUEST,
    types::tc::{TcMsg, TcaAttr},
};
use scenario::{DeviceRef, Gateway, HostName};

use crate::{
    devices::Devices,
    error::ReadError,
    namespaces::Namespaces,
    queue_counts::{self, QueueCounts},
    read_back, snat,
    state::Counters,
};

/// How many connections a namespace tracks.
const TRACKED: &str = "/proc/sys/net/netfilter/nf_conntrack_count";
/// `TC_H_ROOT`.
const ROOT: u32 = 0xFFFF_FFFF;
/// `TCA_STATS_QUEUE`.
const QUEUE: u16 = 3;

/// A reading of everything that counts on a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathReading {
    /// The devices, in the order in which they were asked for.
    pub devices: Vec<DeviceReading>,
    /// The hosts whose addresses are translated on this path.
    pub hosts: Vec<HostReading>,
}

/// A reading of one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceReading {
    /// The device.
    pub at: DeviceRef,
    /// What passed it since it was made.
    pub counters: Counters,
    /// The queueing discipline at its root, if it has one.
    pub qdisc: Option<QdiscReading>,
    /// What its driver counted for its queues.
    pub queues: QueueCounts,
}

/// A reading of one queueing discipline. The kernel counts in 32 bits here: a counter begins again at nought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QdiscReading {
    /// Its kind: `noqueue`, `tbf`.
    pub kind: String,
    /// Packets that it dropped since it was made.
    pub drops: u32,
    /// Times that it was over its limit.
    pub overlimits: u32,
    /// Packets that a driver gave back.
    pub requeues: u32,
}

/// A reading of one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostReading {
    /// The host.
    pub host: HostName,
    /// Connections that it tracks now; `None` where the kernel does not tell.
    pub tracked: Option<u64>,
    /// Packets that its rules have translated: the first of each connection; `None` where they cannot be read.
    pub translated: Option<u64>,
}

/// Reads the counters of `wanted`, in that order, and of the hosts where `gateways` translate what passes them.
pub(crate) fn read(
    namespaces: &Namespaces,
    devices: &Devices,
    gateways: &[Gateway],
    wanted: &[DeviceRef],
) -> Result<PathReading, ReadError> {
    let hosts: BTreeSet<&HostName> = wanted.iter().map(|at| &at.host).collect();
    let mut of_host = BTreeMap::new();
    for host in hosts {
        of_host.insert(host, (read_back::links(namespaces, host, true)?, qdiscs(namespaces, host)?));
    }
    let device = |at: &DeviceRef| {
        let device = devices.find(at).ok_or_else(|| ReadError::Unknown { what: format!("device `{at}`") })?;
        let absent = || ReadError::Absent { host: at.host.clone(), what: format!("device `{}`", at.device) };
        let (links, qdiscs) = of_host.get(&at.host).ok_or_else(absent)?;
        let counters = links.get(&device.index).ok_or_else(absent)?.counters;
        let queues = queue_counts::find(device.kind, &namespaces.statistics(at));
        Ok(DeviceReading { at: at.clone(), counters, qdisc: qdiscs.get(&device.index).cloned(), queues })
    };
    let devices = wanted.iter().map(device).collect::<Result<_, ReadError>>()?;
    Ok(PathReading { devices, hosts: hosts_of(namespaces, gateways, wanted) })
}

fn hosts_of(namespaces: &Namespaces, gateways: &[Gateway], wanted: &[DeviceRef]) -> Vec<HostReading> {
    let passed = |gateway: &&Gateway| {
        let leaves_by = |at: &DeviceRef| at.host == gateway.egress && at.device == gateway.egress_device;
        wanted.iter().any(leaves_by)
    };
    let mut hosts: BTreeMap<&HostName, Option<u64>> = BTreeMap::new();
    for gateway in gateways.iter().filter(passed) {
        let packets = snat::packets(namespaces, gateway);
        let sum = hosts.entry(&gateway.egress).or_insert(Some(0));
        *sum = sum.zip(packets).map(|(sum, packets)| sum + packets);
    }
    let reading = |(host, translated): (&HostName, Option<u64>)| HostReading {
        host: host.clone(),
        tracked: tracked(namespaces, host),
        translated,
    };
    hosts.into_iter().map(reading).collect()
}

fn tracked(namespaces: &Namespaces, host: &HostName) -> Option<u64> {
    let read = || fs::read_to_string(TRACKED).ok()?.trim().parse().ok();
    namespaces.get(host)?.run_in(read).ok().flatten()
}

/// The queueing disciplines at the root of a host's devices, by the device's index.
fn qdiscs(namespaces: &Namespaces, host: &HostName) -> Result<BTreeMap<u32, QdiscReading>, ReadError> {
    let mut request = MessageBuilder::new(NlMsgType::RTM_GETQDISC, NLM_F_REQUEST);
    request.append(&TcMsg::new());
    let payloads = namespaces.channel(host).dump(request).map_err(|refusal| ReadError::Refused {
        host: host.clone(),
        what: "its queueing disciplines".to_owned(),
        refusal,
    })?;
    Ok(payloads.iter().filter_map(|payload| qdisc(payload)).collect())
}

/// The index of the device and what its discipline counted; `None` for one that is not at the root.
fn qdisc(payload: &[u8]) -> Option<(u32, QdiscReading)> {
    let header = payload.get(..size_of::<TcMsg>())?;
    // struct tcmsg: family and padding, then index, handle and parent.
    let (index, parent) = (read_back::u32_at(&header[4..])?, read_back::u32_at(&header[12..])?);
    if parent != ROOT {
        return None;
    }
    let mut found = QdiscReading::default();
    for (attribute, value) in AttrIter::new(&payload[header.len()..]) {
        if attribute == TcaAttr::Kind as u16 {
            found.kind = read_back::text(value);
        } else if attribute == TcaAttr::Stats2 as u16 {
            take_queue(&mut found, value);
        }
    }
    Some((index, found))
}

fn take_queue(found: &mut QdiscReading, stats: &[u8]) {
    let queue = AttrIter::new(stats).find(|(attribute, _)| *attribute == QUEUE);
    let Some((_, queue)) = queue else { return };
    // struct gnet_stats_queue: length, backlog, drops, requeues, overlimits.
    let field = |n: usize| queue.get(n * 4..).and_then(read_back::u32_at).unwrap_or_default();
    (found.drops, found.requeues, found.overlimits) = (field(2), field(3), field(4));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message as the kernel sends it: header, kind, statistics of basic and queue.
    fn message(parent: u32) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        for word in [7_u32, 0x8001_0000, parent, 2] {
            bytes.extend(word.to_ne_bytes());
        }
        let attribute = |kind: u16, value: &[u8]| -> Vec<u8> {
            let mut bytes = (value.len() as u16 + 4).to_ne_bytes().to_vec();
            bytes.extend(kind.to_ne_bytes());
            bytes.extend(value);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes
        };
        bytes.extend(attribute(TcaAttr::Kind as u16, b"tbf\0"));
        let queue: Vec<u8> = [1_u32, 1500, 23, 4, 99].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let stats = [attribute(1, &[0; 16]), attribute(QUEUE, &queue)].concat();
        bytes.extend(attribute(TcaAttr::Stats2 as u16, &stats));
        bytes
    }

    #[test]
    fn a_discipline_at_the_root_is_told_with_what_it_counted() {
        let expected = QdiscReading { kind: "tbf".into(), drops: 23, overlimits: 99, requeues: 4 };
        assert_eq!(qdisc(&message(ROOT)), Some((7, expected)));
        assert_eq!(qdisc(&message(0xFFFF_FFF1)), None, "the one of what comes in");
        assert_eq!(qdisc(&[0; 10]), None, "half a message");
    }
}
