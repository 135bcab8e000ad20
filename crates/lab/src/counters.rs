//! Two readings of a path become what was counted between them. Must not know how they are read.

use samples::{DeviceCounters, HostCounters, PathCounters, QdiscCounters, SoftnetCounters};
use topology::{DeviceReading, HostReading, PathReading, QdiscReading};
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
    }
}

fn qdisc(before: &QdiscReading, after: &QdiscReading) -> QdiscCounters {
    QdiscCounters {
        kind: after.kind.clone(),
        drops: passed(after.drops, before.drops),
        overlimits: passed(after.overlimits, before.overlimits),
        requeues: passed(after.requeues, before.requeues),
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

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{DeviceRef, HostName};
    use topology::Counters;

    fn reading(packets: u64, drops: u64, tracked: u64, translated: Option<u64>) -> PathReading {
        let counters = Counters { tx_packets: packets, rx_bytes: packets * 100, ..Counters::default() };
        let qdisc = Some(QdiscReading { kind: "tbf".into(), drops, ..QdiscReading::default() });
        let host = HostName::new("egress");
        PathReading {
            devices: vec![DeviceReading { at: DeviceRef::new("egress", "eth1"), counters, qdisc }],
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
}
