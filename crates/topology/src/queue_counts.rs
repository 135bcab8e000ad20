//! What the driver of a device counts for each of its queues, found in its statistics by their names. There is no rule
//! for these names, only a few manners of writing them. Must not know how statistics are read.

use samples::QueueCounters;
use units::Bytes;

use crate::link::DeviceKind;

/// Of the receive queues in order, then of the transmit queues; none where the driver does not count them apart.
pub(crate) type OfQueues = [Vec<QueueCounters>; 2];

/// The counts in the statistics of a device.
pub(crate) fn find(kind: DeviceKind, statistics: &[(String, u64)]) -> OfQueues {
    let [mut rx, mut tx] = OfQueues::default();
    for (name, value) in statistics {
        let found = name.strip_prefix("rx").map(|rest| (&mut rx, rest));
        let found = found.or_else(|| name.strip_prefix("tx").map(|rest| (&mut tx, rest)));
        if let Some((queues, rest)) = found {
            take(queues, kind, rest, *value);
        }
    }
    // A driver that tells only what a queue dropped counts no queue's packets.
    for queues in [&mut rx, &mut tx] {
        if queues.iter().all(|queue| queue.packets == 0 && queue.bytes == Bytes(0)) {
            queues.clear();
        }
    }
    [rx, tx]
}

/// `_queue_0_packets` (ixgbe, ice, virtio_net), `0_packets` (mlx5), `-0.packets` (i40e).
fn take(queues: &mut Vec<QueueCounters>, kind: DeviceKind, name: &str, value: u64) -> Option<()> {
    let name = name.trim_start_matches(['_', '-']);
    let name = name.strip_prefix("queue_").unwrap_or(name);
    let digits = name.find(|letter: char| !letter.is_ascii_digit())?;
    let number: usize = name[..digits].parse().ok().filter(|number| *number < MOST)?;
    let what = name[digits..].trim_start_matches(['_', '.', ':']);
    // Of a veth these are all packets that its queue took, whether any program looked at them or not (veth_xdp_rcv in
    // drivers/net/veth.c); of other drivers they are those that a program got.
    let what = if kind == DeviceKind::Veth {
        what.strip_prefix("xdp_").filter(|what| *what != "drops").unwrap_or(what)
    } else {
        what
    };
    if !["packets", "bytes", "drops"].contains(&what) {
        return None;
    }
    if queues.len() <= number {
        queues.resize(number + 1, QueueCounters::default());
    }
    let queue = &mut queues[number];
    match what {
        "packets" => queue.packets = value,
        "bytes" => queue.bytes = Bytes(value),
        _ => queue.dropped = value,
    }
    Some(())
}

/// A number beyond this is not that of a queue.
const MOST: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn count(packets: u64, bytes: u64, dropped: u64) -> QueueCounters {
        QueueCounters { packets, bytes: Bytes(bytes), dropped }
    }

    fn check(kind: DeviceKind, names: &[&str], rx: &[QueueCounters], tx: &[QueueCounters]) {
        let statistics: Vec<(String, u64)> = names.iter().map(|name| (*name).to_owned()).zip(1..).collect();
        assert_eq!(find(kind, &statistics), [rx.to_vec(), tx.to_vec()], "{names:?}");
    }

    #[test]
    fn queues_are_found_in_the_manners_of_several_drivers() {
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
    fn a_veth_counts_what_its_receive_queues_took() {
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
