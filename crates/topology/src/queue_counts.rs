//! Per-queue counters, from the driver's own statistics or from the kernel's
//! (Documentation/netlink/specs/netdev.yaml), e.g. for virtio_net since Linux 6.11.

use nlink::netlink::genl::netdev::{NetdevQstatsReply, NetdevQueueType};
use samples::QueueCounters;
use units::Bytes;

use crate::device_kind::DeviceKind;

/// The receive queues and the transmit queues, each in order. Both are empty if the driver does not count per queue.
pub(crate) type QueueCounts = [Vec<QueueCounters>; 2];

pub(crate) fn find(
    kind: DeviceKind,
    statistics: &[(String, u64)],
    kernel_statistics: &[NetdevQstatsReply],
) -> QueueCounts {
    let [mut rx, mut tx] = QueueCounts::default();
    for (name, value) in statistics {
        let found = name.strip_prefix("rx").map(|rest| (&mut rx, rest));
        let found = found.or_else(|| name.strip_prefix("tx").map(|rest| (&mut tx, rest)));
        if let Some((queues, rest)) = found {
            take(queues, kind, rest, *value);
        }
    }
    for (queues, queue_type) in [(&mut rx, NetdevQueueType::Rx), (&mut tx, NetdevQueueType::Tx)] {
        if has_no_packets(queues) {
            let replies = kernel_statistics.iter().filter(|reply| reply.queue_type == Some(queue_type));
            replies.for_each(|reply| add(queues, reply));
        }
        // Ignore drivers that count only drops per queue.
        if has_no_packets(queues) {
            queues.clear();
        }
    }
    [rx, tx]
}

fn has_no_packets(queues: &[QueueCounters]) -> bool {
    queues.iter().all(|queue| queue.packets == 0 && queue.bytes == Bytes(0))
}

fn add(queues: &mut Vec<QueueCounters>, reply: &NetdevQstatsReply) {
    let number = reply.queue_id.and_then(|number| usize::try_from(number).ok());
    let Some(queue) = number.and_then(|number| at(queues, number)) else { return };
    // A reply has either rx or tx fields, never both.
    queue.packets = reply.rx_packets.or(reply.tx_packets).unwrap_or_default();
    queue.bytes = Bytes(reply.rx_bytes.or(reply.tx_bytes).unwrap_or_default());
    queue.dropped = reply.rx_hw_drops.or(reply.tx_hw_drops).unwrap_or(queue.dropped);
}

fn at(queues: &mut Vec<QueueCounters>, number: usize) -> Option<&mut QueueCounters> {
    if queues.len() <= number && number < MOST {
        queues.resize(number + 1, QueueCounters::default());
    }
    queues.get_mut(number)
}

/// Parses a counter's name, e.g. `_queue_0_packets` (ixgbe, ice, virtio_net), `0_packets` (mlx5) or
/// `-0.packets` (i40e).
fn take(queues: &mut Vec<QueueCounters>, kind: DeviceKind, name: &str, value: u64) -> Option<()> {
    let name = name.trim_start_matches(['_', '-']);
    let name = name.strip_prefix("queue_").unwrap_or(name);
    let digits = name.find(|letter: char| !letter.is_ascii_digit())?;
    let number: usize = name[..digits].parse().ok()?;
    let what = name[digits..].trim_start_matches(['_', '.', ':']);
    // For veth, the `xdp_` counters include all packets of the queue, with or without an XDP program (veth_xdp_rcv in
    // drivers/net/veth.c). For other drivers, they include only packets that reached an XDP program.
    let what = if kind == DeviceKind::Veth {
        what.strip_prefix("xdp_").filter(|what| *what != "drops").unwrap_or(what)
    } else {
        what
    };
    if !["packets", "bytes", "drops"].contains(&what) {
        return None;
    }
    let queue = at(queues, number)?;
    match what {
        "packets" => queue.packets = value,
        "bytes" => queue.bytes = Bytes(value),
        _ => queue.dropped = value,
    }
    Some(())
}

const MOST: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn count(packets: u64, bytes: u64, dropped: u64) -> QueueCounters {
        QueueCounters { packets, bytes: Bytes(bytes), dropped }
    }

    fn check(kind: DeviceKind, names: &[&str], rx: &[QueueCounters], tx: &[QueueCounters]) {
        let statistics: Vec<(String, u64)> = names.iter().map(|name| (*name).to_owned()).zip(1..).collect();
        assert_eq!(find(kind, &statistics, &[]), [rx.to_vec(), tx.to_vec()], "{names:?}");
    }

    fn reply(queue_type: NetdevQueueType, number: u32, packets: u64, bytes: u64) -> NetdevQstatsReply {
        let mut reply = NetdevQstatsReply::default();
        (reply.queue_type, reply.queue_id) = (Some(queue_type), Some(number));
        match queue_type {
            NetdevQueueType::Rx => (reply.rx_packets, reply.rx_bytes) = (Some(packets), Some(bytes)),
            _ => (reply.tx_packets, reply.tx_bytes) = (Some(packets), Some(bytes)),
        }
        reply
    }

    #[test]
    fn uses_kernel_packet_counts_if_the_driver_counts_only_drops() {
        use NetdevQueueType::{Rx, Tx};
        let statistics = [("rx_queue_0_drops".to_owned(), 3), ("rx_queue_1_kicks".to_owned(), 9)];
        let kernel_statistics = [reply(Rx, 0, 10, 1000), reply(Rx, 1, 20, 2000), reply(Tx, 1, 5, 500)];
        let expected =
            [vec![count(10, 1000, 3), count(20, 2000, 0)], vec![QueueCounters::default(), count(5, 500, 0)]];
        assert_eq!(find(DeviceKind::Virtio, &statistics, &kernel_statistics), expected);
        // The driver's own counts are not overridden, and queue numbers that are too high are ignored.
        let statistics = [("rx_queue_0_packets".to_owned(), 7)];
        let kernel_statistics = [reply(Rx, 0, 10, 1000), reply(Tx, 5000, 1, 1)];
        assert_eq!(
            find(DeviceKind::Virtio, &statistics, &kernel_statistics),
            [vec![count(7, 0, 0)], Vec::new()]
        );
    }

    #[test]
    fn parses_counter_names_of_several_drivers() {
        let other = DeviceKind::Other;
        check(
            other,
            &["rx_packets", "rx_queue_0_packets", "rx_queue_0_bytes", "tx_queue_1_packets"],
            &[count(2, 3, 0)],
            &[count(0, 0, 0), count(4, 0, 0)],
        );
        check(
            other,
            &["rx0_packets", "rx0_bytes", "tx0_packets", "tx0_bytes"],
            &[count(1, 2, 0)],
            &[count(3, 4, 0)],
        );
        check(other, &["rx-1.packets", "rx-1.bytes"], &[count(0, 0, 0), count(1, 2, 0)], &[]);
        check(
            other,
            &["rx_queue_0_xdp_packets", "rx_kicks", "rx99999999999_packets", "rx5000_packets"],
            &[],
            &[],
        );
    }

    #[test]
    fn parses_veth_receive_counters() {
        let names = [
            "peer_ifindex",
            "rx_queue_0_xdp_packets",
            "rx_queue_0_xdp_bytes",
            "rx_queue_0_drops",
            "rx_queue_0_xdp_drops",
            "tx_queue_0_xdp_xmit",
        ];
        check(DeviceKind::Veth, &names, &[count(2, 3, 4)], &[]);
    }
}
