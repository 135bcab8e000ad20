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
/// /proc/net would show the counters of the main thread's namespace.
const TRACKING: &str = "/proc/thread-self/net/stat/nf_conntrack";
const PROTOCOLS: [&str; 2] = ["/proc/thread-self/net/snmp", "/proc/thread-self/net/snmp6"];
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
        // Read policers right after the device counters, because both count the same packets.
        let first = wanted.iter().find(|at| at.host == *host).map_or("", |at| at.device.as_str());
        let policers = policers::read(namespaces, host, &links, first);
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
    let mut hosts: BTreeMap<&HostName, Option<u64>> = wanted.iter().map(|at| (&at.host, None)).collect();
    for gateway in gateways.iter().filter(passed) {
        let packets = snat::packets(namespaces, gateway);
        let sum = hosts.entry(&gateway.egress).or_default();
        *sum = packets.map(|packets| sum.unwrap_or_default() + packets);
    }
    let reading = |(host, translated): (&HostName, Option<u64>)| HostCounters {
        host: host.to_string(),
        translated,
        nat_ports: snat::port_range(namespaces, host),
        ..namespaces.read_in(host, protocol_counters).unwrap_or_default()
    };
    hosts.into_iter().map(reading).collect()
}

fn protocol_counters() -> HostCounters {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let tracking = read(TRACKING);
    let [insert_failed, dropped] = ["insert_failed", "drop"].map(|name| sum_of(name, &tracking));
    HostCounters {
        tracked: read(TRACKED).trim().parse().ok(),
        insert_failed,
        // `nf_ct_resolve_clash` (net/netfilter/nf_conntrack_core.c) counts a drop in both counters.
        table_full: dropped.saturating_sub(insert_failed),
        checksum_errors: PROTOCOLS.iter().map(|file| checksum_errors(&read(file))).sum(),
        ..HostCounters::default()
    }
}

/// Sums a counter over all CPUs (one line each, in hexadecimal).
fn sum_of(counter: &str, table: &str) -> u64 {
    let mut lines = table.lines();
    let mut names = lines.next().unwrap_or_default().split_whitespace();
    let Some(column) = names.position(|name| name == counter) else { return 0 };
    let count = |line: &str| u64::from_str_radix(line.split_whitespace().nth(column)?, 16).ok();
    lines.filter_map(count).sum()
}

/// `snmp` has a line of names and a line of values per protocol, and `snmp6` has one line per counter.
fn checksum_errors(table: &str) -> u64 {
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    let pairs = lines.windows(2).filter(|pair| pair[0].len() > 2 && pair[0].first() == pair[1].first());
    let of_snmp = pairs.filter(|pair| ["Tcp:", "Udp:"].contains(&pair[0][0])).flat_map(|pair| {
        pair[0].iter().zip(&pair[1]).filter(|(name, _)| **name == "InCsumErrors").map(|(_, value)| *value)
    });
    let of_snmp6 = lines.iter().filter(|line| line.first() == Some(&"Udp6InCsumErrors"));
    let of_snmp6 = of_snmp6.filter_map(|line| line.get(1).copied());
    of_snmp.chain(of_snmp6).filter_map(|value| value.parse::<u64>().ok()).sum()
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
    // `struct tcmsg` contains the family and padding, then the index, handle and parent.
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
    // `struct gnet_stats_queue` contains the length, backlog, drops, requeues and overlimits.
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
    fn sums_failures_of_all_cpus_and_protocols() {
        let tracking =
            "entries found insert_failed drop\n00000002 00000000 0000000a 00000001\n0 0 00000010 0\n";
        assert_eq!((sum_of("insert_failed", tracking), sum_of("drop", tracking)), (26, 1));
        assert_eq!(sum_of("drop", ""), 0, "without connection tracking");
        let snmp = "Icmp: InMsgs InCsumErrors\nIcmp: 9 9\nTcp: InErrs InCsumErrors\nTcp: 7 3\n\
                    Udp: InCsumErrors MemErrors\nUdp: 4 9\nUdpLite: InCsumErrors MemErrors\nUdpLite: 9 9\n";
        assert_eq!(checksum_errors(snmp), 7);
        assert_eq!(checksum_errors("Udp6InCsumErrors                \t5\nUdp6InErrors \t9\n"), 5);
    }

    #[test]
    fn parses_counters_of_root_discipline() {
        let expected = QdiscCounters { kind: "tbf".into(), drops: 23, overlimits: 99, requeues: 4 };
        assert_eq!(qdisc(&message(ROOT)), Some((7, expected)));
        assert_eq!(qdisc(&message(0xFFFF_FFF1)), None, "the ingress discipline");
        assert_eq!(qdisc(&[0; 10]), None, "truncated message");
    }
}
