//! Tests trials that cause warnings, and similar trials that cause none.

use samples::{CpuThrottling, MachineCpu, ThreadCpu, ThreadRole};
use units::Bytes;
use workload::{
    Background, ConnectData, Direction, EndMeasurement, EndSeries, Interval, LatencyHistogram, Measurement,
    Mode, OpenLoopData, PingPongData, PingPongSettings, Schedule, StreamData, StreamEnd, StreamSettings,
    Transport, Until, WorkloadSettings,
};

use super::*;

const SECOND: Nanos = Nanos::from_secs(1);

fn end(bytes: u64, millis: u64) -> EndSeries {
    let interval = Interval {
        start: Nanos(0),
        end: Nanos::from_millis(millis),
        bytes: Bytes(bytes),
        warmup: false,
        tcp: None,
        datagrams: None,
    };
    EndSeries { intervals: vec![interval], ..EndSeries::default() }
}

fn flows(sender: EndSeries, receiver: EndSeries) -> StreamData {
    StreamData { flows: vec![Flow { id: 0, direction: Direction::Forward, sender, receiver }] }
}

fn carried(sender: EndSeries, receiver: EndSeries) -> Measurement {
    Measurement::Stream(flows(sender, receiver))
}

fn stream(change: impl FnOnce(&mut StreamSettings)) -> WorkloadSettings {
    let mut load = StreamSettings::new(Until::Elapsed(SECOND));
    change(&mut load);
    WorkloadSettings::Stream(load)
}

fn threads(role: ThreadRole, millis: u64) -> CpuUsage {
    let thread = ThreadCpu { end: "client".into(), role, busy: Nanos::from_millis(millis), elapsed: SECOND };
    CpuUsage { threads: vec![thread], ..CpuUsage::default() }
}

fn times(nanos: u64) -> LatencyHistogram {
    let mut times = LatencyHistogram::new();
    (0..100).for_each(|_| times.record(Nanos(nanos)));
    times
}

#[test]
fn discards_interrupted_trial_and_warns_about_long_one() {
    let load = stream(|_| {});
    for (millis, bytes, is_void, has_warning) in
        [(1000, 9, false, false), (1200, 9, false, true), (400, 9, true, true), (1000, 0, true, false)]
    {
        let measured = carried(end(bytes, millis), end(bytes, millis));
        assert_eq!(void(&load, &measured).is_some(), is_void, "{millis} ms, {bytes} B");
        let warnings_found = warnings(&load, &measured, &CpuUsage::default());
        let other = matches!(warnings_found.as_slice(), [ValidityWarning::OtherDuration { .. }]);
        assert_eq!(other, has_warning, "{millis} ms, {bytes} B: {warnings_found:?}");
    }
}

#[test]
fn reports_stall_of_a_tenth_of_the_trial() {
    let bytes = WorkloadSettings::Stream(StreamSettings::new(Until::Sent(Bytes(1))));
    let report = |millis, stalled| EndReport {
        measured: EndMeasurement::Stream(StreamEnd::default()),
        machine: MachineCpu { elapsed: Nanos::from_millis(millis), ..MachineCpu::default() },
        threads: Vec::new(),
        softnet: None,
        throttled: None,
        stalled: Nanos::from_millis(stalled),
    };
    for (load, millis, stalled, expected) in [
        (stream(|_| {}), 1000, 99, false),
        (stream(|_| {}), 1000, 100, true),
        (bytes.clone(), 5000, 499, false),
        (bytes, 5000, 500, true),
    ] {
        let (quiet, late) = (report(millis, 0), report(millis, stalled));
        let found = super::stalled(&load, [Some(&quiet), Some(&late)], [false; 2]);
        let end = found.map(|warning| match warning {
            ValidityWarning::Stalled { end, .. } => end,
            other => panic!("{other:?}"),
        });
        assert_eq!(end.as_deref(), expected.then_some("server"), "{stalled} of {millis} ms");
        assert_eq!(
            super::stalled(&load, [Some(&quiet), Some(&late)], [false, true]),
            None,
            "guests are skipped"
        );
    }
}

#[test]
fn cpu_quota_excuses_only_as_long_a_stall() {
    for (paused, expected) in [(5, true), (899, true), (900, false)] {
        let throttled = CpuThrottling {
            end: String::new(),
            group: "/sys/fs/cgroup/web".to_owned(),
            limit: Some(0.1),
            periods: 10,
            throttled: 9,
            time: Nanos::from_millis(paused),
        };
        let report = EndReport {
            measured: EndMeasurement::Stream(StreamEnd::default()),
            machine: MachineCpu { elapsed: SECOND, ..MachineCpu::default() },
            threads: Vec::new(),
            softnet: None,
            throttled: Some(throttled),
            stalled: Nanos::from_millis(900),
        };
        let found = super::stalled(&stream(|_| {}), [Some(&report), None], [false; 2]);
        assert_eq!(found.is_some(), expected, "paused for {paused} ms");
    }
}

/// With 1000 threads on two CPUs, each thread runs every two seconds.
#[test]
fn scheduling_of_many_threads_is_not_a_stall() {
    let report = |of_them: usize, stalled| EndReport {
        measured: EndMeasurement::Stream(StreamEnd::default()),
        machine: MachineCpu { elapsed: SECOND, cpus: 2, ..MachineCpu::default() },
        threads: vec![threads(ThreadRole::Send, 1).threads[0].clone(); of_them],
        softnet: None,
        throttled: None,
        stalled: Nanos::from_millis(stalled),
    };
    for (threads, stalled, expected) in [(1, 900, true), (500, 1900, false), (500, 2100, true)] {
        let [client, server] = [report(threads, stalled), report(threads, 0)];
        let found = super::stalled(&stream(|_| {}), [Some(&client), Some(&server)], [false; 2]);
        assert_eq!(found.is_some(), expected, "{threads} threads, {stalled} ms");
    }
}

#[test]
fn discards_trial_without_connection_or_round_trip() {
    let ping = WorkloadSettings::PingPong(PingPongSettings::new(SECOND));
    let connect = WorkloadSettings::Connect(workload::ConnectSettings::new(SECOND));
    let full = |times| PingPongData { round_trips: times, elapsed: SECOND, ..PingPongData::default() };
    assert!(void(&ping, &Measurement::PingPong(full(LatencyHistogram::new()))).is_some());
    assert_eq!(void(&ping, &Measurement::PingPong(full(times(9)))), None);
    let made = |times| ConnectData { exchanges: times, elapsed: SECOND, ..ConnectData::default() };
    assert!(void(&connect, &Measurement::Connect(made(LatencyHistogram::new()))).is_some());
    assert_eq!(void(&connect, &Measurement::Connect(made(times(9)))), None);
}

#[test]
fn warns_about_missing_bytes_for_tcp_only() {
    let (tcp, udp) = (stream(|_| {}), stream(|load| load.transport = Transport::Udp));
    for (load, sent, received, has_warning) in [(&tcp, 9, 9, false), (&tcp, 9, 8, true), (&udp, 9, 8, false)]
    {
        let warnings_found =
            warnings(load, &carried(end(sent, 1000), end(received, 1000)), &CpuUsage::default());
        assert_eq!(!warnings_found.is_empty(), has_warning, "{sent} {received}: {warnings_found:?}");
    }
}

#[test]
fn end_without_data_causes_no_warning() {
    let load = stream(|load| load.rate = Some(BitRate(1e9)));
    let warnings_found =
        warnings(&load, &carried(EndSeries::default(), end(125_000_000, 1000)), &CpuUsage::default());
    assert_eq!(warnings_found, []);
}

#[test]
fn warns_about_busy_thread_unless_it_reached_its_rate() {
    for (rate, busy, expected) in
        [(None, 960, 0), (None, 990, 1), (Some(72.0), 990, 0), (Some(73.0), 990, 0), (Some(80.0), 990, 2)]
    {
        let load = stream(|load| load.rate = rate.map(BitRate));
        let measured = carried(end(9, 1000), end(9, 1000));
        let warnings_found = warnings(&load, &measured, &threads(ThreadRole::Send, busy));
        assert_eq!(warnings_found.len(), expected, "{rate:?} {busy}: {warnings_found:?}");
        let generator =
            warnings_found.iter().any(|warning| matches!(warning, ValidityWarning::GeneratorLimited { .. }));
        assert_eq!(generator, expected > 0, "{warnings_found:?}");
    }
}

#[test]
fn warns_about_skipped_schedule_regardless_of_rate() {
    for (rate, skipped, expected) in
        [(Some(72.0), None, 0), (Some(72.0), Some(0), 0), (Some(72.0), Some(1), 1)]
    {
        let load = stream(|load| load.rate = rate.map(BitRate));
        let sender = EndSeries { skipped: skipped.map(Nanos), ..end(9, 1000) };
        let warnings_found = warnings(&load, &carried(sender, end(9, 1000)), &CpuUsage::default());
        assert_eq!(warnings_found.len(), expected, "{skipped:?}: {warnings_found:?}");
        assert!(
            warnings_found.iter().all(|warning| matches!(warning, ValidityWarning::RateNotReached { .. })),
            "{warnings_found:?}"
        );
    }
}

#[test]
fn ignores_spinning_threads_and_background_streams() {
    let load = WorkloadSettings::PingPong(PingPongSettings {
        waiting: workload::Waiting::Spin,
        ..PingPongSettings::new(SECOND)
    });
    let measured = Measurement::PingPong(PingPongData {
        round_trips: times(9),
        elapsed: SECOND,
        ..PingPongData::default()
    });
    for role in [ThreadRole::Ping, ThreadRole::Pong, ThreadRole::Send, ThreadRole::Receive] {
        assert_eq!(warnings(&load, &measured, &threads(role, 1000)), [], "{role:?}");
    }
}

#[test]
fn background_stream_must_reach_its_rate() {
    let under = Background {
        mode: Mode::App,
        streams: 1,
        direction: Direction::Forward,
        rate: None,
        message: Bytes(9),
    };
    for (rate, expected) in [(None, 0), (Some(BitRate(72.0)), 0), (Some(BitRate(90.0)), 1)] {
        let load =
            PingPongSettings { under: Some(Background { rate, ..under }), ..PingPongSettings::new(SECOND) };
        let data = PingPongData {
            round_trips: times(9),
            elapsed: SECOND,
            under: Some(flows(end(9, 1000), end(9, 1000))),
            ..PingPongData::default()
        };
        let warnings_found =
            warnings(&WorkloadSettings::PingPong(load), &Measurement::PingPong(data), &CpuUsage::default());
        assert_eq!(warnings_found.len(), expected, "{rate:?}: {warnings_found:?}");
    }
}

#[test]
fn warns_about_loss_from_1_percent() {
    for (lost, has_warning) in [(0, false), (1, false), (2, true), (32, true)] {
        let data = PingPongData {
            round_trips: times(9),
            elapsed: SECOND,
            lost: Some(lost),
            ..PingPongData::default()
        };
        let load = WorkloadSettings::PingPong(PingPongSettings::new(SECOND));
        let warnings_found = warnings(&load, &Measurement::PingPong(data), &CpuUsage::default());
        let expected = has_warning.then_some(ValidityWarning::Lossy { lost, total: lost + 100 });
        assert_eq!(warnings_found, expected.into_iter().collect::<Vec<_>>(), "{lost} of 100 more");
    }
}

#[test]
fn warns_about_stray_replies_but_not_duplicates() {
    for (strays, duplicates, has_warning) in
        [(None, None, false), (Some(0), Some(9), false), (Some(1), Some(9), true)]
    {
        let data = PingPongData {
            round_trips: times(9),
            elapsed: SECOND,
            strays,
            duplicates,
            ..PingPongData::default()
        };
        let load = WorkloadSettings::PingPong(PingPongSettings::new(SECOND));
        let warnings_found = warnings(&load, &Measurement::PingPong(data), &CpuUsage::default());
        let expected = has_warning.then_some(ValidityWarning::Strays { strays: 1, total: 110 });
        assert_eq!(warnings_found, expected.into_iter().collect::<Vec<_>>(), "{strays:?} {duplicates:?}");
    }
}

#[test]
fn warns_about_late_generator() {
    for (lateness, period, tail, has_warning) in
        [(20_000, 100_000, 90_000, false), (20_000, 10_000, 90_000, true), (60_000, 100_000, 90_000, true)]
    {
        let schedule = Schedule::Open { period: Nanos(period) };
        let load = WorkloadSettings::PingPong(PingPongSettings { schedule, ..PingPongSettings::new(SECOND) });
        let open = OpenLoopData { since_intended: times(tail), lateness: times(lateness) };
        let data = PingPongData {
            round_trips: times(tail),
            elapsed: SECOND,
            open_loop: Some(open),
            ..PingPongData::default()
        };
        let warnings_found = warnings(&load, &Measurement::PingPong(data), &CpuUsage::default());
        assert_eq!(
            matches!(warnings_found.as_slice(), [ValidityWarning::LateGenerator { .. }]),
            has_warning,
            "{warnings_found:?}"
        );
    }
}
