//! Trials that give cause for doubt, and near ones that do not.

use samples::{MachineCpu, ThreadCpu, ThreadRole};
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
fn a_trial_in_which_a_thread_did_not_run_is_void_and_one_a_little_long_is_doubtful() {
    let load = stream(|_| {});
    for (millis, bytes, is_void, doubtful) in
        [(1000, 9, false, false), (1200, 9, false, true), (400, 9, true, true), (1000, 0, true, false)]
    {
        let measured = carried(end(bytes, millis), end(bytes, millis));
        assert_eq!(void(&load, &measured).is_some(), is_void, "{millis} ms, {bytes} B");
        let said = warnings(&load, &measured, &CpuUsage::default());
        let other = matches!(said.as_slice(), [ValidityWarning::OtherDuration { .. }]);
        assert_eq!(other, doubtful, "{millis} ms, {bytes} B: {said:?}");
    }
}

#[test]
fn an_end_that_gave_no_sign_for_a_tenth_of_the_trial_stalled() {
    let bytes = WorkloadSettings::Stream(StreamSettings::new(Until::Sent(Bytes(1))));
    let report = |millis, stalled| EndReport {
        measured: EndMeasurement::Stream(StreamEnd::default()),
        machine: MachineCpu { elapsed: Nanos::from_millis(millis), ..MachineCpu::default() },
        threads: Vec::new(),
        softnet: None,
        stalled: Nanos::from_millis(stalled),
    };
    for (load, millis, stalled, is_told) in [
        (stream(|_| {}), 1000, 99, false),
        (stream(|_| {}), 1000, 100, true),
        (bytes.clone(), 5000, 499, false),
        (bytes, 5000, 500, true),
    ] {
        let (quiet, late) = (report(millis, 0), report(millis, stalled));
        let told = super::stalled(&load, [Some(&quiet), Some(&late)], [false; 2]);
        let end = told.map(|doubt| match doubt {
            ValidityWarning::Stalled { end, .. } => end,
            other => panic!("{other:?}"),
        });
        assert_eq!(end.as_deref(), is_told.then_some("server"), "{stalled} of {millis} ms");
        assert_eq!(
            super::stalled(&load, [Some(&quiet), Some(&late)], [false, true]),
            None,
            "a guest's own clock"
        );
    }
}

/// A thousand threads on two CPUs come to the same one every two seconds.
#[test]
fn an_end_whose_threads_take_turns_has_not_stalled() {
    let report = |of_them: usize, stalled| EndReport {
        measured: EndMeasurement::Stream(StreamEnd::default()),
        machine: MachineCpu { elapsed: SECOND, cpus: 2, ..MachineCpu::default() },
        threads: vec![threads(ThreadRole::Send, 1).threads[0].clone(); of_them],
        softnet: None,
        stalled: Nanos::from_millis(stalled),
    };
    for (threads, stalled, is_told) in [(1, 900, true), (500, 1900, false), (500, 2100, true)] {
        let [client, server] = [report(threads, stalled), report(threads, 0)];
        let told = super::stalled(&stream(|_| {}), [Some(&client), Some(&server)], [false; 2]);
        assert_eq!(told.is_some(), is_told, "{threads} threads, {stalled} ms");
    }
}

#[test]
fn a_trial_without_a_connection_or_a_round_trip_is_void() {
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
fn bytes_that_vanish_are_a_doubt_of_tcp_and_a_result_of_udp() {
    let (tcp, udp) = (stream(|_| {}), stream(|load| load.transport = Transport::Udp));
    for (load, sent, received, doubtful) in [(&tcp, 9, 9, false), (&tcp, 9, 8, true), (&udp, 9, 8, false)] {
        let said = warnings(load, &carried(end(sent, 1000), end(received, 1000)), &CpuUsage::default());
        assert_eq!(!said.is_empty(), doubtful, "{sent} {received}: {said:?}");
    }
}

#[test]
fn an_end_that_told_nothing_gives_no_cause() {
    let load = stream(|load| load.rate = Some(BitRate(1e9)));
    let said = warnings(&load, &carried(EndSeries::default(), end(125_000_000, 1000)), &CpuUsage::default());
    assert_eq!(said, []);
}

#[test]
fn a_thread_at_its_limit_is_a_doubt_unless_it_kept_a_rate() {
    // 9 bytes in a second are 72 bit/s.
    for (rate, busy, expected) in
        [(None, 960, 0), (None, 990, 1), (Some(72.0), 990, 0), (Some(73.0), 990, 0), (Some(80.0), 990, 2)]
    {
        let load = stream(|load| load.rate = rate.map(BitRate));
        let measured = carried(end(9, 1000), end(9, 1000));
        let said = warnings(&load, &measured, &threads(ThreadRole::Send, busy));
        assert_eq!(said.len(), expected, "{rate:?} {busy}: {said:?}");
        let generator = said.iter().any(|doubt| matches!(doubt, ValidityWarning::GeneratorLimited { .. }));
        assert_eq!(generator, expected > 0, "{said:?}");
    }
}

#[test]
fn a_sender_that_skipped_a_part_of_its_schedule_did_not_keep_it_whatever_its_rate() {
    // 9 bytes in a second are 72 bit/s.
    for (rate, skipped, expected) in
        [(Some(72.0), None, 0), (Some(72.0), Some(0), 0), (Some(72.0), Some(1), 1)]
    {
        let load = stream(|load| load.rate = rate.map(BitRate));
        let sender = EndSeries { skipped: skipped.map(Nanos), ..end(9, 1000) };
        let said = warnings(&load, &carried(sender, end(9, 1000)), &CpuUsage::default());
        assert_eq!(said.len(), expected, "{skipped:?}: {said:?}");
        assert!(said.iter().all(|doubt| matches!(doubt, ValidityWarning::RateNotKept { .. })), "{said:?}");
    }
}

#[test]
fn threads_that_spin_or_fill_the_path_beside_messages_are_no_limit() {
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
fn a_stream_beside_messages_has_to_keep_its_rate() {
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
        let said =
            warnings(&WorkloadSettings::PingPong(load), &Measurement::PingPong(data), &CpuUsage::default());
        assert_eq!(said.len(), expected, "{rate:?}: {said:?}");
    }
}

#[test]
fn messages_that_get_lost_are_a_doubt_from_one_in_a_hundred_on() {
    for (lost, doubtful) in [(0, false), (1, false), (2, true), (32, true)] {
        let data = PingPongData {
            round_trips: times(9),
            elapsed: SECOND,
            lost: Some(lost),
            ..PingPongData::default()
        };
        let load = WorkloadSettings::PingPong(PingPongSettings::new(SECOND));
        let said = warnings(&load, &Measurement::PingPong(data), &CpuUsage::default());
        let expected = doubtful.then_some(ValidityWarning::Lossy { lost, of: lost + 100 });
        assert_eq!(said, expected.into_iter().collect::<Vec<_>>(), "{lost} beside 100");
    }
}

#[test]
fn a_single_stray_answer_is_a_doubt_and_a_late_one_is_none() {
    for (strays, duplicates, doubtful) in
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
        let said = warnings(&load, &Measurement::PingPong(data), &CpuUsage::default());
        let expected = doubtful.then_some(ValidityWarning::Strays { strays: 1, of: 110 });
        assert_eq!(said, expected.into_iter().collect::<Vec<_>>(), "{strays:?} {duplicates:?}");
    }
}

#[test]
fn a_late_generator_is_one_that_misses_its_period_or_makes_up_the_tail() {
    for (lateness, period, tail, doubtful) in
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
        let said = warnings(&load, &Measurement::PingPong(data), &CpuUsage::default());
        assert_eq!(matches!(said.as_slice(), [ValidityWarning::LateGenerator { .. }]), doubtful, "{said:?}");
    }
}
