//! Computes the difference between two readings of a path's counters.

use std::iter;

use samples::{
    DeviceCounters, HostCounters, PathCounters, PolicerCounters, QdiscCounters, QueueCounters,
    SoftnetCounters,
};
use units::Bytes;

pub fn between(
    before: &PathCounters,
    after: &PathCounters,
    softnet: Option<SoftnetCounters>,
) -> PathCounters {
    let devices = before.devices.iter().zip(&after.devices).map(|(before, after)| device(before, after));
    let hosts = before.hosts.iter().zip(&after.hosts).map(|(before, after)| host(before, after));
    let hosts = hosts.filter(|host| host.translated.is_some() || host.has_refused() || host.uses_all_ports());
    PathCounters { devices: devices.collect(), hosts: hosts.collect(), softnet }
}

fn device(then: &DeviceCounters, now: &DeviceCounters) -> DeviceCounters {
    DeviceCounters {
        device: now.device.clone(),
        rx_packets: passed(now.rx_packets, then.rx_packets),
        rx_bytes: passed_bytes(now.rx_bytes, then.rx_bytes),
        rx_dropped: passed(now.rx_dropped, then.rx_dropped),
        rx_errors: passed(now.rx_errors, then.rx_errors),
        tx_packets: passed(now.tx_packets, then.tx_packets),
        tx_bytes: passed_bytes(now.tx_bytes, then.tx_bytes),
        tx_dropped: passed(now.tx_dropped, then.tx_dropped),
        tx_errors: passed(now.tx_errors, then.tx_errors),
        qdisc: then.qdisc.as_ref().zip(now.qdisc.as_ref()).map(|(before, after)| qdisc(before, after)),
        policer: then.policer.zip(now.policer).map(|(before, after)| policer(before, after)),
        rx_queues: queues(&then.rx_queues, &now.rx_queues),
        tx_queues: queues(&then.tx_queues, &now.tx_queues),
    }
}

/// The result is empty if all counters are zero, because some drivers count per queue only in certain modes.
fn queues(before: &[QueueCounters], after: &[QueueCounters]) -> Vec<QueueCounters> {
    let none = QueueCounters::default();
    let before = before.iter().chain(iter::repeat(&none));
    let queue = |(now, then): (&QueueCounters, &QueueCounters)| QueueCounters {
        packets: passed(now.packets, then.packets),
        bytes: passed_bytes(now.bytes, then.bytes),
        dropped: passed(now.dropped, then.dropped),
    };
    let queues: Vec<QueueCounters> = after.iter().zip(before).map(queue).collect();
    if queues.iter().any(|queue| queue.packets > 0) { queues } else { Vec::new() }
}

fn qdisc(before: &QdiscCounters, after: &QdiscCounters) -> QdiscCounters {
    QdiscCounters {
        kind: after.kind.clone(),
        drops: passed_around(after.drops, before.drops),
        overlimits: passed_around(after.overlimits, before.overlimits),
        requeues: passed_around(after.requeues, before.requeues),
    }
}

fn policer(before: PolicerCounters, after: PolicerCounters) -> PolicerCounters {
    PolicerCounters {
        dropped: passed(after.dropped, before.dropped),
        dropped_bytes: passed_bytes(after.dropped_bytes, before.dropped_bytes),
        ..after
    }
}

fn host(before: &HostCounters, after: &HostCounters) -> HostCounters {
    HostCounters {
        host: after.host.clone(),
        tracked: after.tracked,
        translated: after.translated.zip(before.translated).map(|(after, before)| passed(after, before)),
        nat_ports: after.nat_ports,
        insert_failed: passed(after.insert_failed, before.insert_failed),
        table_full: passed(after.table_full, before.table_full),
        checksum_errors: passed(after.checksum_errors, before.checksum_errors),
    }
}

fn passed(now: u64, then: u64) -> u64 {
    now.saturating_sub(then)
}

fn passed_bytes(now: Bytes, then: Bytes) -> Bytes {
    Bytes(passed(now.0, then.0))
}

/// Returns the difference of 32-bit counters that wrap around. It is correct if the counter increases by less
/// than 2^32 per trial.
fn passed_around(now: u64, then: u64) -> u64 {
    now.wrapping_sub(then) & u64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(packets: u64, drops: u32, tracked: u64, translated: Option<u64>) -> PathCounters {
        let qdisc =
            Some(QdiscCounters { kind: "tbf".into(), drops: drops.into(), ..QdiscCounters::default() });
        let device = DeviceCounters {
            device: "egress:eth1".into(),
            tx_packets: packets,
            rx_bytes: Bytes(packets * 100),
            qdisc,
            ..DeviceCounters::default()
        };
        let host = HostCounters {
            host: "egress".into(),
            tracked: Some(tracked),
            translated,
            checksum_errors: packets,
            ..HostCounters::default()
        };
        PathCounters { devices: vec![device], hosts: vec![host], softnet: None }
    }

    #[test]
    fn subtracts_readings() {
        let softnet = SoftnetCounters { processed: 5, ..SoftnetCounters::default() };
        let counters = between(&reading(10, 1, 3, Some(4)), &reading(17, 1, 2, Some(5)), Some(softnet));
        let [device] = &counters.devices[..] else { panic!("{counters:?}") };
        assert_eq!(
            (device.device.as_str(), device.tx_packets, device.rx_bytes),
            ("egress:eth1", 7, Bytes(700))
        );
        assert_eq!(device.qdisc.as_ref().map(|qdisc| (qdisc.kind.as_str(), qdisc.drops)), Some(("tbf", 0)));
        let [host] = &counters.hosts[..] else { panic!("{counters:?}") };
        assert_eq!(
            (host.tracked, host.translated),
            (Some(2), Some(1)),
            "`tracked` is a gauge, `translated` a counter"
        );
        assert_eq!(host.checksum_errors, 7);
        assert_eq!(counters.softnet, Some(softnet));
    }

    #[test]
    fn leaves_out_unreadable_rule() {
        let counters = between(&reading(0, 0, 0, None), &reading(1, 0, 0, Some(5)), None);
        assert_eq!(counters.hosts[0].translated, None);
        let counters = between(&reading(1, 0, 0, None), &reading(1, 0, 0, None), None);
        assert_eq!(counters.hosts, [], "nothing was refused");
    }

    #[test]
    fn handles_wrap_of_32_bit_qdisc_counters() {
        let counters = between(&reading(0, u32::MAX - 1, 0, None), &reading(0, 3, 0, None), None);
        assert_eq!(counters.devices[0].qdisc.as_ref().map(|qdisc| qdisc.drops), Some(5));
    }

    #[test]
    fn leaves_out_queues_without_packets() {
        let reading = |rx: &[u64]| {
            let mut reading = reading(0, 0, 0, None);
            let queue =
                |packets: &u64| QueueCounters { packets: *packets, bytes: Bytes(packets * 60), dropped: 0 };
            reading.devices[0].rx_queues = rx.iter().map(queue).collect();
            reading
        };
        for (before, after, expected) in [
            (&[3, 9][..], &[3, 12][..], vec![0, 3]),
            (&[], &[4, 5], vec![4, 5]),
            (&[4], &[4, 5], vec![0, 5]),
            (&[4, 5], &[4, 5], vec![]),
        ] {
            let counters = between(&reading(before), &reading(after), None);
            let packets: Vec<u64> = counters.devices[0].rx_queues.iter().map(|queue| queue.packets).collect();
            assert_eq!(packets, expected, "{before:?} {after:?}");
        }
    }
}
