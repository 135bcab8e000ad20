//! Two readings of a path become what was counted between them. Must not know how they are read.

use std::iter;

use samples::{DeviceCounters, HostCounters, PathCounters, QdiscCounters, QueueCounters, SoftnetCounters};
use topology::{DeviceReading, HostReading, PathReading, QdiscReading, QueueCount};
use units::Bytes;

/// What was counted from one reading to the other, and by the machine meanwhile.
pub(crate) fn between(
    before: &PathReading,
    after: &PathReading,
    softnet: Option<SoftnetCounters>,
) -> PathCounters {
    let devices = before.devices.iter().zip(&after.devices).map(|(before, after)| device(before, after));
    let hosts = before.hosts.iter().zip(&after.hosts).map(|(before, after)| host(before, after));
    PathCounters { devices: devices.collect(), hosts: hosts.collect(), softnet }
}

fn device(before: &DeviceReading, after: &DeviceReading) -> DeviceCounters {
    let (then, now) = (&before.counters, &after.counters);
    DeviceCounters {
        device: after.at.to_string(),
        rx_packets: passed(now.rx_packets, then.rx_packets),
        rx_bytes: Bytes(passed(now.rx_bytes, then.rx_bytes)),
        rx_dropped: passed(now.rx_dropped, then.rx_dropped),
        rx_errors: passed(now.rx_errors, then.rx_errors),
        tx_packets: passed(now.tx_packets, then.tx_packets),
        tx_bytes: Bytes(passed(now.tx_bytes, then.tx_bytes)),
        tx_dropped: passed(now.tx_dropped, then.tx_dropped),
        tx_errors: passed(now.tx_errors, then.tx_errors),
        qdisc: before.qdisc.as_ref().zip(after.qdisc.as_ref()).map(|(before, after)| qdisc(before, after)),
        rx_queues: queues(&before.queues.rx, &after.queues.rx),
        tx_queues: queues(&before.queues.tx, &after.queues.tx),
    }
}

/// None where none of them counted anything: then the driver counts apart only in a mode that is off.
fn queues(before: &[QueueCount], after: &[QueueCount]) -> Vec<QueueCounters> {
    let none = QueueCount::default();
    let before = before.iter().chain(iter::repeat(&none));
    let queue = |(now, then): (&QueueCount, &QueueCount)| QueueCounters {
        packets: passed(now.packets, then.packets),
        bytes: Bytes(passed(now.bytes, then.bytes)),
        dropped: passed(now.dropped, then.dropped),
    };
    let queues: Vec<QueueCounters> = after.iter().zip(before).map(queue).collect();
    if queues.iter().any(|queue| queue.packets > 0) { queues } else { Vec::new() }
}

fn qdisc(before: &QdiscReading, after: &QdiscReading) -> QdiscCounters {
    QdiscCounters {
        kind: after.kind.clone(),
        drops: passed_around(after.drops, before.drops),
        overlimits: passed_around(after.overlimits, before.overlimits),
        requeues: passed_around(after.requeues, before.requeues),
    }
}

fn host(before: &HostReading, after: &HostReading) -> HostCounters {
    HostCounters {
        host: after.host.to_string(),
        tracked: after.tracked,
        translated: after.translated.zip(before.translated).map(|(after, before)| passed(after, before)),
    }
}

/// A counter that was set back in between has counted nothing that is known.
fn passed(now: u64, then: u64) -> u64 {
    now.saturating_sub(then)
}

/// Of a counter of 32 bits, which begins again at nought: right up to 2^32 in one trial.
fn passed_around(now: u32, then: u32) -> u64 {
    u64::from(now.wrapping_sub(then))
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{DeviceRef, HostName};
    use topology::{Counters, QueueCounts};

    fn reading(packets: u64, drops: u32, tracked: u64, translated: Option<u64>) -> PathReading {
        let counters = Counters { tx_packets: packets, rx_bytes: packets * 100, ..Counters::default() };
        let qdisc = Some(QdiscReading { kind: "tbf".into(), drops, ..QdiscReading::default() });
        let host = HostName::new("egress");
        PathReading {
            devices: vec![DeviceReading {
                at: DeviceRef::new("egress", "eth1"),
                counters,
                qdisc,
                queues: QueueCounts::default(),
            }],
            hosts: vec![HostReading { host, tracked: Some(tracked), translated }],
        }
    }

    #[test]
    fn what_is_kept_is_what_was_counted_in_between() {
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
            "tracked as it is, translated as it grew"
        );
        assert_eq!(counters.softnet, Some(softnet));
    }

    #[test]
    fn a_rule_that_cannot_be_read_has_counted_nothing_that_is_known() {
        let counters = between(&reading(0, 0, 0, None), &reading(0, 0, 0, Some(5)), None);
        assert_eq!(counters.hosts[0].translated, None);
    }

    #[test]
    fn a_discipline_that_counts_in_32_bits_may_begin_again_in_the_middle_of_a_trial() {
        let counters = between(&reading(0, u32::MAX - 1, 0, None), &reading(0, 3, 0, None), None);
        assert_eq!(counters.devices[0].qdisc.as_ref().map(|qdisc| qdisc.drops), Some(5));
    }

    #[test]
    fn queues_are_told_only_where_the_driver_counted_them_meanwhile() {
        let reading = |rx: &[u64]| {
            let mut reading = reading(0, 0, 0, None);
            let queue = |packets: &u64| QueueCount { packets: *packets, bytes: packets * 60, dropped: 0 };
            reading.devices[0].queues.rx = rx.iter().map(queue).collect();
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
