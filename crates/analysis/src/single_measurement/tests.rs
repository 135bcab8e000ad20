//! Tests the analysis of single trials.

use findings::{SingleOutcome, SingleStream};
use units::Nanos;
use workload::{PingPongSettings, StreamSettings, Transport};

use super::*;
use crate::fixtures::{connections, cpu, open_loop_of, ping_of, stream_at, stream_settings};

fn of(load: &WorkloadSettings, measurement: &Measurement) -> SingleMeasurement {
    single_measurement(&Single {
        tool: "0.1.0",
        started: UnixMillis(0),
        peer: "198.18.0.2:5201",
        load,
        placement: "free",
        measurement,
        cpu: &cpu(),
        warnings: &[],
        environment: None,
        devices: &[],
        counters: None,
    })
}

fn streaming(load: &WorkloadSettings, measurement: &Measurement) -> SingleStream {
    match of(load, measurement).outcome {
        Some(SingleOutcome::Stream(stream)) => stream,
        other => panic!("{other:?}"),
    }
}

fn steady(rate: f64, intervals: usize) -> Vec<f64> {
    (0..=intervals).map(|index| rate * if index % 2 == 0 { 0.99 } else { 1.01 }).collect()
}

#[test]
fn steady_stream_has_rate_and_interval() {
    let stream = streaming(&stream_settings(), &stream_at(&steady(8e9, 20)));
    let spread = stream.received.spread.expect("twenty samples");
    assert!((stream.received.rate / 8e9 - 1.0).abs() < 1e-3, "{}", stream.received.rate);
    assert!(spread.interval.low < 8e9 && spread.interval.high > 8e9, "{spread:?}");
    assert_eq!((&*spread.end, spread.intervals), ("receiver", 20));
    assert_eq!((stream.bytes.0, stream.elapsed), (5_000_000_000, Nanos::from_secs(5)));
}

#[test]
fn peer_with_only_a_total_gives_the_rate_but_no_interval() {
    let Measurement::Stream(mut data) = stream_at(&steady(8e9, 20)) else { unreachable!() };
    let receiver = &mut data.flows[0].receiver;
    let total = workload::Interval {
        start: Nanos(0),
        end: Nanos::from_secs(5),
        bytes: units::Bytes(4_000_000_000),
        warmup: false,
        tcp: None,
        datagrams: None,
    };
    receiver.intervals = vec![total];
    let stream = streaming(&stream_settings(), &Measurement::Stream(data));
    assert!((stream.received.rate - 6.4e9).abs() < 1.0, "{}", stream.received.rate);
    assert_eq!(stream.received.spread, None, "the sender's interval excludes the received rate");
    let sent = stream.sent.expect("it is known");
    let interval = sent.spread.as_ref().expect("twenty samples").interval;
    assert!(interval.low < sent.rate && interval.high > sent.rate, "{sent:?}");
}

#[test]
fn stream_without_receiver_data_has_no_result() {
    let Measurement::Stream(mut data) = stream_at(&steady(8e9, 20)) else { unreachable!() };
    data.flows[0].receiver.intervals.clear();
    assert_eq!(of(&stream_settings(), &Measurement::Stream(data)).outcome, None);
}

#[test]
fn rate_with_a_level_shift_has_no_interval() {
    let rates = [steady(4e9, 15), steady(8e9, 15)].concat();
    let analysed = of(&stream_settings(), &stream_at(&rates));
    assert_eq!((analysed.shifts.len(), analysed.bimodal.is_none()), (1, true), "{analysed:?}");
    assert_eq!(analysed.shifts[0].at, Nanos::from_millis(15 * 250));
    let Some(SingleOutcome::Stream(stream)) = analysed.outcome else { panic!("a stream") };
    assert_eq!(stream.received.spread, None);
}

/// Each interval of 250 ms contains at most one datagram.
#[test]
fn intervals_with_few_datagrams_are_not_bimodal() {
    let rates: Vec<f64> = (0..=40).map(|index| if index % 3 == 0 { 0.0 } else { 1.05e6 }).collect();
    let over = |transport| {
        let mut load = stream_settings();
        let stream = StreamSettings::of_mut(&mut load).expect("it is one");
        (stream.transport, stream.message) = (transport, units::Bytes(32 << 10));
        of(&load, &stream_at(&rates)).bimodal
    };
    assert!(over(Transport::Tcp).is_some());
    assert_eq!(over(Transport::Udp), None);
}

#[test]
fn reports_bimodal_round_trips_with_likely_cause() {
    let (Measurement::PingPong(mut low), Measurement::PingPong(high)) =
        (ping_of(11_000.0), ping_of(49_000.0))
    else {
        unreachable!()
    };
    low.round_trips.merge(&high.round_trips);
    let load = WorkloadSettings::PingPong(PingPongSettings::new(Nanos::from_secs(1)));
    let levels = of(&load, &Measurement::PingPong(low)).bimodal.expect("two of them");
    assert!(levels.unpinned && (levels.low / 11_000.0 - 1.0).abs() < 0.02, "{levels:?}");
    assert_eq!(levels.quantity, "round trips");
}

#[test]
fn open_loop_and_connections_have_distributions() {
    let load = WorkloadSettings::PingPong(PingPongSettings::new(Nanos::from_secs(1)));
    let Some(SingleOutcome::PingPong(latency)) = of(&load, &open_loop_of(50_000, 9_000, 20)).outcome else {
        panic!("a ping-pong")
    };
    assert!(latency.open_loop.is_some() && !latency.round_trips.buckets.is_empty());
    let load = WorkloadSettings::Connect(workload::ConnectSettings::new(Nanos::from_secs(2)));
    let Some(SingleOutcome::Connect(connect)) = of(&load, &connections()).outcome else {
        panic!("connections")
    };
    let spread = connect.rate.spread.expect("twenty samples");
    assert!(spread.interval.low < 500.0 && spread.interval.high > 500.0, "{spread:?}");
}
