//! What the driver of a device counts for each of its queues, found in its statistics by their names. There is no rule
//! for these names, only a few manners of writing them. Must not know how statistics are read.

use crate::link::DeviceKind;

/// What was counted for the queues of a device; none where its driver does not count them apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Of the receive queues in order.
    pub rx: Vec<QueueCount>,
    /// Of the transmit queues in order.
    pub tx: Vec<QueueCount>,
}

/// What was counted for one queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueCount {
    /// Packets that it took.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that it dropped.
    pub dropped: u64,
}

/// The counts in the statistics of a device.
pub(crate) fn find(kind: DeviceKind, statistics: &[(String, u64)]) -> QueueCounts {
    let mut counts = QueueCounts::default();
    for (name, value) in statistics {
        let found = name.strip_prefix("rx").map(|rest| (&mut counts.rx, rest));
        let found = found.or_else(|| name.strip_prefix("tx").map(|rest| (&mut counts.tx, rest)));
        if let Some((queues, rest)) = found {
            take(queues, kind, rest, *value);
        }
    }
    // A driver that tells only what a queue dropped counts no queue's packets.
    for queues in [&mut counts.rx, &mut counts.tx] {
        if queues.iter().all(|queue| queue.packets == 0 && queue.bytes == 0) {
            queues.clear();
        }
    }
    counts
}

/// `_queue_0_packets` (ixgbe, ice, virtio_net), `0_packets` (mlx5), `-0.packets` (i40e).
fn take(queues: &mut Vec<QueueCount>, kind: DeviceKind, name: &str, value: u64) -> Option<()> {
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
        queues.resize(number + 1, QueueCount::default());
    }
    let queue = &mut queues[number];
    match what {
        "packets" => queue.packets = value,
        "bytes" => queue.bytes = value,
        _ => queue.dropped = value,
    }
    Some(())
}

/// A number beyond this is not that of a queue.
const MOST: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn count(packets: u64, bytes: u64, dropped: u64) -> QueueCount {
        QueueCount { packets, bytes, dropped }
    }

    fn check(kind: DeviceKind, names: &[&str], rx: &[QueueCount], tx: &[QueueCount]) {
        let statistics: Vec<(String, u64)> = names.iter().map(|name| (*name).to_owned()).zip(1..).collect();
        assert_eq!(find(kind, &statistics), QueueCounts { rx: rx.into(), tx: tx.into() }, "{names:?}");
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
