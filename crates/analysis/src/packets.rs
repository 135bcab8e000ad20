//! Packet sizes on the path, from device and socket counters. Each segment passes every device once, alone or merged
//! with other segments. The number of segments per packet at a device therefore shows the effect of offloads.

use findings::{DataPackets, DevicePackets, PacketCut, PacketSize, PacketSummary};
use samples::{DeviceCounters, PathCounters};
use units::Bytes;
use workload::{Direction, EndSeries, StreamData};

use crate::observations::Observations;

/// Minimum number of packets. A device with fewer did not carry the measured traffic.
const FEWEST: u64 = 100;
/// Traffic is one-way if one direction carries this many times as many bytes as the other.
const ONE_WAY: u64 = 4;
/// Packets were segmented between two devices if the second device has less than this fraction of the first one's
/// segments per packet.
const CUT: f64 = 0.5;

pub(crate) fn summary(result: &Observations<'_>, counters: &PathCounters) -> Option<PacketSummary> {
    let sent = SocketTotals::of(result);
    let devices: Vec<DevicePackets> =
        counters.devices.iter().map(|device| packets(device, sent.as_ref())).collect();
    let passed = |device: &DevicePackets| device.sent.is_some() || device.received.is_some();
    devices
        .iter()
        .any(passed)
        .then(|| PacketSummary { data: sent.and_then(|sent| data(&devices, sent.forward)), devices })
}

struct SocketTotals {
    forward: bool,
    data: u64,
    back: u64,
}

impl SocketTotals {
    fn of(result: &Observations<'_>) -> Option<Self> {
        let streams = || result.trials().filter_map(|trial| StreamData::of(&trial.measurement));
        let (forward, reverse) = streams().map(bytes).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        let is_forward = forward >= reverse.saturating_mul(ONE_WAY);
        if !is_forward && reverse < forward.saturating_mul(ONE_WAY) {
            return None;
        }
        let flows = || streams().flat_map(|stream| &stream.flows);
        let data = flows().map(|flow| segments(&flow.sender)).sum();
        let back = flows().map(|flow| segments(&flow.receiver)).sum();
        (data > 0).then_some(Self { forward: is_forward, data, back })
    }
}

fn bytes(stream: &StreamData) -> (u64, u64) {
    let sum = |direction: Direction| {
        let flows = stream.flows.iter().filter(|flow| flow.direction == direction);
        flows.flat_map(|flow| &flow.sender.intervals).map(|interval| interval.bytes.0).sum()
    };
    (sum(Direction::Forward), sum(Direction::Reverse))
}

/// TCP segments or UDP datagrams sent by an end. Includes the warm-up, because the devices count it too.
fn segments(end: &EndSeries) -> u64 {
    let of = |interval: &workload::Interval| match (interval.tcp, interval.datagrams) {
        (Some(tcp), _) => u64::from(tcp.segments),
        (None, Some(datagrams)) => datagrams.count,
        (None, None) => 0,
    };
    end.intervals.iter().map(of).sum()
}

fn packets(device: &DeviceCounters, sent: Option<&SocketTotals>) -> DevicePackets {
    let (rx, tx) = (device.rx_bytes.0, device.tx_bytes.0);
    // A device's busier direction carries the data.
    let segments = |bytes: u64, other: u64| {
        let sent = sent?;
        match (bytes >= other.saturating_mul(2), other >= bytes.saturating_mul(2)) {
            (true, false) => Some(sent.data),
            (false, true) => Some(sent.back),
            _ => None,
        }
    };
    DevicePackets {
        device: device.device.clone(),
        received: size(device.rx_packets, rx, segments(rx, tx)),
        sent: size(device.tx_packets, tx, segments(tx, rx)),
    }
}

fn size(packets: u64, bytes: u64, segments: Option<u64>) -> Option<PacketSize> {
    (packets >= FEWEST).then(|| PacketSize {
        packets,
        mean: Bytes((bytes as f64 / packets as f64).round() as u64),
        segments: segments.filter(|segments| *segments > 0).map(|segments| segments as f64 / packets as f64),
    })
}

fn data(devices: &[DevicePackets], forward: bool) -> Option<DataPackets> {
    let larger = |device: &DevicePackets| {
        let sizes = [device.received, device.sent].into_iter().flatten();
        let heavier = sizes.max_by_key(|size| size.packets.saturating_mul(size.mean.0))?;
        Some((device.device.clone(), heavier.segments?))
    };
    let mut way: Vec<(String, f64)> = devices.iter().filter_map(larger).collect();
    if !forward {
        way.reverse();
    }
    let cut = way.windows(2).find(|pair| pair[1].1 < CUT * pair[0].1);
    let cut = cut.map(|pair| PacketCut { device: pair[1].0.clone(), segments: pair[1].1 });
    Some(DataPackets { first: way.first()?.1, last: way.last()?.1, cut })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fixtures::{Fixture, datagrams_at, stream_settings},
        observations::gather,
    };
    use samples::RunRecord;
    use workload::Measurement;

    fn device(name: &str, sends: bool, packets: u64, mean: u64) -> DeviceCounters {
        let (data, back) = ((packets, Bytes(packets * mean)), (packets / 10, Bytes(packets / 10 * 66)));
        let ((tx_packets, tx_bytes), (rx_packets, rx_bytes)) =
            if sends { (data, back) } else { (back, data) };
        let device = name.into();
        DeviceCounters { device, tx_packets, tx_bytes, rx_packets, rx_bytes, ..DeviceCounters::default() }
    }

    fn cut_on_the_way(direction: Direction) -> PacketSummary {
        let mut run = Fixture::new(2);
        run.path("plain", &["wire"]).stream("plain", &[], 1e9).each("plain/bulk", |trial| {
            let Measurement::Stream(stream) = &mut trial.measurement else { return };
            stream.flows[0].direction = direction;
        });
        let results = gather(&run.record);
        let trial = results[0].trials().next().expect("it has two");
        let each: u64 =
            StreamData::of(&trial.measurement).map(|it| segments(&it.flows[0].sender)).expect("it is one");
        let all = each * 2;
        let mut devices = vec![
            device("a:eth0", true, all / 50, 70_000),
            device("hv:a", false, all / 50, 70_000),
            device("hv:vx", true, all, 1500),
            device("b:eth0", false, all, 1500),
            device("hv:idle", true, 20, 60),
        ];
        if direction == Direction::Reverse {
            devices.reverse();
        }
        let counters = PathCounters { devices, ..PathCounters::default() };
        summary(&results[0], &counters).expect("packets passed")
    }

    #[test]
    fn finds_segmenting_device_in_either_direction() {
        for direction in [Direction::Forward, Direction::Reverse] {
            let found = cut_on_the_way(direction);
            let data = found.data.expect("segments were counted");
            assert!((data.first - 50.0).abs() < 0.5 && (data.last - 1.0).abs() < 0.01, "{data:?}");
            assert_eq!(data.cut.expect("it was cut").device, "hv:vx", "{direction:?}");
            let idle =
                found.devices.iter().find(|device| device.device == "hv:idle").expect("it is reported");
            assert_eq!((idle.sent, idle.received), (None, None));
        }
    }

    #[test]
    fn counts_acknowledgements_of_the_other_end() {
        let found = cut_on_the_way(Direction::Forward);
        let first = &found.devices[0];
        let (sent, back) = (first.sent.expect("data"), first.received);
        assert_eq!((sent.mean, sent.segments.map(f64::round)), (Bytes(70_000), Some(50.0)));
        assert_eq!(back.and_then(|back| back.segments), None, "no receiver counted any");
    }

    #[test]
    fn datagrams_count_as_segments_in_one_direction_only() {
        let mut run = Fixture::new(1);
        run.path("plain", &["wire"]);
        run.measured("plain", "udp", stream_settings(), &datagrams_at(&[(500, 0), (500, 0)]));
        let counters =
            PathCounters { devices: vec![device("a:eth0", true, 250, 2000)], ..PathCounters::default() };
        let first = |run: &Fixture| {
            let results = gather(&run.record);
            summary(&results[0], &counters).and_then(|found| found.data).map(|data| data.first)
        };
        assert_eq!(first(&run), Some(4.0));
        run.each("plain/udp", |trial| {
            let Measurement::Stream(stream) = &mut trial.measurement else { return };
            let mut back = stream.flows[0].clone();
            back.direction = Direction::Reverse;
            stream.flows.push(back);
        });
        assert_eq!(first(&run), None);
    }

    #[test]
    fn reads_old_trial_without_segment_and_queue_counts() {
        let mut run = Fixture::new(1);
        run.path("plain", &["wire"]).stream("plain", &[], 1e9).each("plain/bulk", |trial| {
            let devices = vec![device("a:eth0", true, 5000, 1500)];
            trial.counters = Some(PathCounters { devices, ..PathCounters::default() });
            trial.devices = vec![crate::fixtures::device("a:eth0", 1500, &[])];
        });
        let text = run.record.text().expect("a record is JSON");
        let old = text.replace(",\"segments\":5000", "").replace(",\"spread\":null", "");
        assert!(old.len() < text.len() && !old.contains("spread") && !text.contains("rx_queues"), "{old}");
        run.record = RunRecord::read(&old).expect("it still opens");
        let results = gather(&run.record);
        let counters = crate::counters::together(&results[0]).expect("they were read");
        let found = summary(&results[0], &counters).expect("packets passed");
        let sent = found.devices[0].sent.expect("it sent");
        assert_eq!((sent.mean, sent.segments, found.data), (Bytes(1500), None, None));
    }
}
