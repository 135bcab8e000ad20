//! Sums device and machine counters over the trials of a result.

use samples::{
    DeviceCounters, HostCounters, PathCounters, PolicerCounters, QdiscCounters, QueueCounters,
    SoftnetCounters,
};
use units::Bytes;

use crate::observations::Observations;

/// Adds up the counters of all unprobed trials. Returns `None` if the counters were not read.
pub(crate) fn together(result: &Observations<'_>) -> Option<PathCounters> {
    let mut read = result.trials().filter_map(|trial| trial.counters.as_ref());
    let first = read.next()?.clone();
    Some(read.fold(first, added))
}

fn added(mut all: PathCounters, more: &PathCounters) -> PathCounters {
    for device in &more.devices {
        match all.devices.iter_mut().find(|known| known.device == device.device) {
            Some(known) => add_device(known, device),
            None => all.devices.push(device.clone()),
        }
    }
    for host in &more.hosts {
        match all.hosts.iter_mut().find(|known| known.host == host.host) {
            Some(known) => add_host(known, host),
            None => all.hosts.push(host.clone()),
        }
    }
    all.softnet = either(all.softnet, more.softnet, |one, other| SoftnetCounters {
        processed: one.processed.saturating_add(other.processed),
        dropped: one.dropped.saturating_add(other.dropped),
        squeezed: one.squeezed.saturating_add(other.squeezed),
    });
    all
}

fn add_device(known: &mut DeviceCounters, more: &DeviceCounters) {
    let add = |known: &mut u64, more: u64| *known = known.saturating_add(more);
    let bytes = |known: &mut Bytes, more: Bytes| known.0 = known.0.saturating_add(more.0);
    add(&mut known.rx_packets, more.rx_packets);
    bytes(&mut known.rx_bytes, more.rx_bytes);
    add(&mut known.rx_dropped, more.rx_dropped);
    add(&mut known.rx_errors, more.rx_errors);
    add(&mut known.tx_packets, more.tx_packets);
    bytes(&mut known.tx_bytes, more.tx_bytes);
    add(&mut known.tx_dropped, more.tx_dropped);
    add(&mut known.tx_errors, more.tx_errors);
    known.qdisc = either(known.qdisc.take(), more.qdisc.clone(), |one, other| QdiscCounters {
        kind: one.kind,
        drops: one.drops.saturating_add(other.drops),
        overlimits: one.overlimits.saturating_add(other.overlimits),
        requeues: one.requeues.saturating_add(other.requeues),
    });
    known.policer = either(known.policer, more.policer, |one, other| PolicerCounters {
        dropped: one.dropped.saturating_add(other.dropped),
        dropped_bytes: Bytes(one.dropped_bytes.0.saturating_add(other.dropped_bytes.0)),
        ..other
    });
    add_queues(&mut known.rx_queues, &more.rx_queues);
    add_queues(&mut known.tx_queues, &more.tx_queues);
}

fn add_queues(known: &mut Vec<QueueCounters>, more: &[QueueCounters]) {
    known.resize(known.len().max(more.len()), QueueCounters::default());
    for (queue, more) in known.iter_mut().zip(more) {
        queue.packets = queue.packets.saturating_add(more.packets);
        queue.bytes = Bytes(queue.bytes.0.saturating_add(more.bytes.0));
        queue.dropped = queue.dropped.saturating_add(more.dropped);
    }
}

/// The number of tracked connections is a gauge, so its maximum is used.
fn add_host(known: &mut HostCounters, more: &HostCounters) {
    known.tracked = known.tracked.max(more.tracked);
    known.translated = either(known.translated, more.translated, u64::saturating_add);
    known.nat_ports = known.nat_ports.or(more.nat_ports);
    known.insert_failed = known.insert_failed.saturating_add(more.insert_failed);
    known.table_full = known.table_full.saturating_add(more.table_full);
    known.checksum_errors = known.checksum_errors.saturating_add(more.checksum_errors);
}

fn either<T>(one: Option<T>, other: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(add(one, other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixtures::Fixture, observations::gather};
    use samples::Arm;

    fn counted(drops: u64, tracked: u64) -> PathCounters {
        let qdisc = QdiscCounters { kind: "tbf".into(), drops, ..QdiscCounters::default() };
        PathCounters {
            devices: vec![DeviceCounters {
                device: "a:eth0".into(),
                tx_packets: 100,
                tx_bytes: Bytes(1000),
                qdisc: Some(qdisc),
                rx_queues: vec![QueueCounters { packets: 5, ..QueueCounters::default() }; drops as usize % 4],
                ..DeviceCounters::default()
            }],
            hosts: vec![HostCounters {
                host: "a".into(),
                tracked: Some(tracked),
                translated: Some(2),
                ..HostCounters::default()
            }],
            softnet: Some(SoftnetCounters { processed: 50, dropped: drops, squeezed: 1 }),
        }
    }

    #[test]
    fn sums_counters_of_unprobed_trials() {
        let mut run = Fixture::new(3);
        run.path("plain", &["wire"]).path("other", &["wire"]).stream("plain", &[], 1e9);
        run.stream("other", &[], 1e9).probed("other/bulk");
        run.each("other/bulk", |trial| {
            let drops = if trial.arm == Arm::Probed { 1000 } else { u64::from(trial.block) };
            trial.counters = Some(counted(drops, u64::from(7 - trial.block)));
        });
        let results = gather(&run.record);
        assert_eq!(together(&results[0]), None);
        let all = together(&results[1]).expect("they were read");
        let device = &all.devices[0];
        assert_eq!((device.tx_packets, device.tx_bytes, all.devices.len()), (300, Bytes(3000), 1));
        assert_eq!(device.qdisc.as_ref().map(|qdisc| qdisc.drops), Some(3));
        let queues: Vec<u64> = device.rx_queues.iter().map(|queue| queue.packets).collect();
        assert_eq!((queues, &device.tx_queues[..]), (vec![10, 5], &[][..]));
        assert_eq!((all.hosts[0].tracked, all.hosts[0].translated), (Some(7), Some(6)));
        assert_eq!(all.softnet, Some(SoftnetCounters { processed: 150, dropped: 3, squeezed: 3 }));
    }
}
