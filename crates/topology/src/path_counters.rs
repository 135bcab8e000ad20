//! Reads the counters of a path's devices and hosts (rtnetlink(7), linux/gen_stats.h, nf_conntrack-sysctl in the
//! kernel's documentation).

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use nlink::netlink::{
    AttrIter, MessageBuilder, NlMsgType,
    message::NLM_F_REQUEST,
    types::tc::{TcMsg, TcaAttr},
};
use samples::{DeviceCounters, HostCounters, PathCounters, QdiscCounters};
use scenario::{DeviceRef, Gateway, HostName};

use crate::{
    devices::Devices, error::ReadError, namespaces::Namespaces, policers, queue_counts, read_back, snat,
};

const TRACKED: &str = "/proc/sys/net/netfilter/nf_conntrack_count";
/// `TC_H_ROOT`.
const ROOT: u32 = 0xFFFF_FFFF;
/// `TCA_STATS_QUEUE`.
const QUEUE: u16 = 3;

pub(crate) fn read(
    namespaces: &Namespaces,
    devices: &Devices,
    gateways: &[Gateway],
    wanted: &[DeviceRef],
) -> Result<PathCounters, ReadError> {
    let hosts: BTreeSet<&HostName> = wanted.iter().map(|at| &at.host).collect();
    let mut by_host = BTreeMap::new();
    for host in hosts {
        let links = read_back::links(namespaces, host, true)?;
        // These are read right after the devices' own counters, because they count the same packets.
        let policers = policers::read(namespaces, host);
        by_host.insert(host, (links, namespaces.queue_statistics(host), qdiscs(namespaces, host)?, policers));
    }
    let device = |at: &DeviceRef| {
        let device = devices.find(at).ok_or_else(|| ReadError::Unknown { what: format!("device `{at}`") })?;
        let absent = || ReadError::Absent { host: at.host.clone(), what: format!("device `{}`", at.device) };
        let (links, queues, qdiscs, policers) = by_host.get(&at.host).ok_or_else(absent)?;
        let counters = links.get(&device.index).ok_or_else(absent)?.counters.clone();
        let kernel_statistics = queues.get(&device.index).map_or(&[][..], Vec::as_slice);
        let [rx_queues, tx_queues] =
            queue_counts::find(device.kind, &namespaces.statistics(at), kernel_statistics);
        let qdisc = qdiscs.get(&device.index).cloned();
        let policer = policers.get(at.device.as_str()).copied();
        Ok(DeviceCounters { device: at.to_string(), qdisc, policer, rx_queues, tx_queues, ..counters })
    };
    let devices = wanted.iter().map(device).collect::<Result<_, ReadError>>()?;
    Ok(PathCounters { devices, hosts: hosts_of(namespaces, gateways, wanted), softnet: None })
}

fn hosts_of(namespaces: &Namespaces, gateways: &[Gateway], wanted: &[DeviceRef]) -> Vec<HostCounters> {
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
    let reading = |(host, translated): (&HostName, Option<u64>)| HostCounters {
        host: host.to_string(),
        tracked: tracked(namespaces, host),
        translated,
    };
    hosts.into_iter().map(reading).collect()
}

fn tracked(namespaces: &Namespaces, host: &HostName) -> Option<u64> {
    let read = || fs::read_to_string(TRACKED).ok()?.trim().parse().ok();
    namespaces.get(host)?.run_in(read).ok().flatten()
}

fn qdiscs(namespaces: &Namespaces, host: &HostName) -> Result<BTreeMap<u32, QdiscCounters>, ReadError> {
    let mut request = MessageBuilder::new(NlMsgType::RTM_GETQDISC, NLM_F_REQUEST);
    request.append(&TcMsg::new());
    let payloads = namespaces.channel(host).dump(request).map_err(|refusal| ReadError::Refused {
        host: host.clone(),
        what: "its queueing disciplines".to_owned(),
        refusal,
    })?;
    Ok(payloads.iter().filter_map(|payload| qdisc(payload)).collect())
}

fn qdisc(payload: &[u8]) -> Option<(u32, QdiscCounters)> {
    let header = payload.get(..size_of::<TcMsg>())?;
    // `struct tcmsg` has the family and padding, then the index, handle and parent.
    let (index, parent) = (read_back::u32_at(&header[4..])?, read_back::u32_at(&header[12..])?);
    if parent != ROOT {
        return None;
    }
    let mut found = QdiscCounters::default();
    for (attribute, value) in AttrIter::new(&payload[header.len()..]) {
        if attribute == TcaAttr::Kind as u16 {
            found.kind = read_back::text(value);
        } else if attribute == TcaAttr::Stats2 as u16 {
            add_queue_counters(&mut found, value);
        }
    }
    Some((index, found))
}

fn add_queue_counters(found: &mut QdiscCounters, stats: &[u8]) {
    let queue = AttrIter::new(stats).find(|(attribute, _)| *attribute == QUEUE);
    let Some((_, queue)) = queue else { return };
    // `struct gnet_stats_queue` has the length, backlog, drops, requeues and overlimits.
    let field = |n: usize| queue.get(n * 4..).and_then(read_back::u32_at).unwrap_or_default();
    // The kernel's counters have 32 bits and wrap around.
    (found.drops, found.requeues, found.overlimits) = (field(2).into(), field(3).into(), field(4).into());
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn parses_counters_of_root_discipline() {
        let expected = QdiscCounters { kind: "tbf".into(), drops: 23, overlimits: 99, requeues: 4 };
        assert_eq!(qdisc(&message(ROOT)), Some((7, expected)));
        assert_eq!(qdisc(&message(0xFFFF_FFF1)), None, "the ingress discipline");
        assert_eq!(qdisc(&[0; 10]), None, "truncated message");
    }
}
