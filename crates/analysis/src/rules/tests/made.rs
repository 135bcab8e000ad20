//! Runs measured by plumb. Each has one defect, or narrowly avoids one.

use samples::{
    CpuTimes, Design, EndReason, Environment, MachineChange, PathCheck, ResultEnd, SyscallCount, Trial,
    UnixMillis, UnreadablePart, ValidityWarning, WorkloadLimit,
};
use units::{BitRate, Bytes, Nanos};
use workload::{
    BalloonData, BalloonMethod, BalloonMove, BalloonSettings, Direction, LatencyHistogram, Measurement,
    PingPongData, PingPongSettings, StreamSettings, TcpSample, Transport, WorkloadSettings,
};

use crate::fixtures::{Fixture, datagrams_at, ping_of, ping_settings, stream_at, stream_of, stream_settings};

pub(super) const UPPER: &str = "vxlan-to-vxlan/bulk";

pub(in crate::rules) fn nested(rate: f64) -> Fixture {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]).path("vxlan-to-vxlan", &["wire", "vxlan"]);
    run.stream("plain", &[], 10e9).stream("vxlan-to-vxlan", &[], rate);
    run.devices(UPPER, &[("a:eth0", 1500, &[]), ("a:vxlan", 1450, &[])]);
    run
}

pub(in crate::rules) fn two(factor: &str, one: (&str, f64), other: (&str, f64)) -> Fixture {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]);
    run.stream("plain", &[(factor, one.0)], one.1).stream("plain", &[(factor, other.0)], other.1);
    run
}

pub(in crate::rules) fn unreadable(parts: &[&str]) -> Fixture {
    let mut run = nested(9e9);
    let reason = "it was altered in storage (checksum)".to_owned();
    let part = |what: &&str| UnreadablePart { part: (*what).to_owned(), reason: reason.clone() };
    run.record.unreadable = parts.iter().map(part).collect();
    run
}

pub(in crate::rules) fn resumed_on(kernels: &[&str]) -> Fixture {
    let mut run = nested(9e9);
    let began = run.environment().clone();
    let change = |kernel: &&str| MachineChange {
        at: UnixMillis(0),
        trials_before: 7,
        environment: Environment { kernel: (*kernel).to_owned(), ..began.clone() },
    };
    run.record.machine_changes = kernels.iter().map(change).collect();
    run
}

pub(in crate::rules) fn limited_to(cpus: f64) -> Fixture {
    let mut run = nested(9e9);
    run.record.header.workload_limits = vec![WorkloadLimit {
        host: "a".into(),
        endpoint: "container:web".into(),
        cpus,
        source: "/sys/fs/cgroup/web/cpu.max".into(),
        shared: false,
    }];
    run
}

pub(in crate::rules) fn mtu(carried: u32) -> Fixture {
    let mut run = nested(9e9);
    run.each(UPPER, |trial| trial.path_check = PathCheck { mtu: Some(carried), black_hole: None });
    run
}

pub(in crate::rules) fn levels(rates: &[f64; 2]) -> Fixture {
    let mut run = nested(9e9);
    run.each(UPPER, |trial| {
        let near = |rate: f64| rate * (1.0 + f64::from(trial.block) / 1000.0);
        let [one, other] = rates.map(near);
        trial.measurement = stream_at(&[one, one, one, other, other]);
    });
    unpinned(run, UPPER)
}

pub(in crate::rules) fn beginning(first: &[f64]) -> Fixture {
    let steady = (first.len()..20).map(|at| 9e9 * if at % 2 == 0 { 0.999 } else { 1.001 });
    let rates: Vec<f64> = [9e9].into_iter().chain(first.iter().copied()).chain(steady).collect();
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]).stream("plain", &[], 9e9);
    run.each("plain/bulk", |trial| trial.measurement = stream_at(&rates));
    run
}

/// An imported trial with sixty intervals. `rate` maps the elapsed fraction to the rate. The intervals alternate
/// between 1 % above and below this rate.
pub(in crate::rules) fn going(rate: impl Fn(f64) -> f64) -> Fixture {
    let noisy = |at: usize| rate(at as f64 / 60.0) * if at.is_multiple_of(2) { 0.99 } else { 1.01 };
    let rates: Vec<f64> = [rate(0.0)].into_iter().chain((0..60).map(noisy)).collect();
    let mut run = Fixture::new(1);
    run.path("plain", &["wire"]).imported("plain", "bulk", &[], stream_at(&rates));
    run
}

/// Noise in Gbit/s with an autocorrelation of 0.8, without level shifts or a trend.
const WAVE: [f64; 60] = [
    10.92, 11.03, 10.19, 11.98, 10.14, 10.15, 10.99, 11.42, 11.74, 10.48, 12.13, 11.07, 10.84, 10.69, 10.57,
    9.99, 11.45, 11.24, 11.94, 10.12, 10.68, 10.37, 10.69, 10.78, 11.05, 10.78, 10.72, 10.73, 10.82, 10.74,
    10.27, 10.64, 9.76, 11.73, 12.20, 13.20, 12.47, 10.81, 9.28, 8.72, 8.42, 8.40, 8.39, 9.31, 7.29, 9.38,
    9.20, 9.51, 7.98, 8.62, 7.58, 8.53, 9.10, 9.45, 9.41, 9.29, 9.15, 10.16, 10.21, 10.40,
];

pub(in crate::rules) fn wandering() -> Fixture {
    let rates: Vec<f64> = WAVE.iter().take(1).chain(&WAVE).map(|rate| rate * 1e9).collect();
    let mut run = Fixture::new(1);
    run.path("plain", &["wire"]).imported("plain", "bulk", &[], stream_at(&rates));
    run
}

pub(in crate::rules) fn fleet(rate: impl Fn(&str, &str) -> f64) -> Fixture {
    let hosts = ["a", "b", "c", "d"];
    let mut run = Fixture::new(6);
    for (from, to) in hosts.into_iter().flat_map(|from| hosts.map(|to| (from, to))) {
        if from != to {
            run.pair(from, to, rate(from, to));
        }
    }
    run
}

pub(in crate::rules) fn losing(lost: i64) -> Fixture {
    let mut run = Fixture::new(1);
    run.path("plain", &["wire"]).imported(
        "plain",
        "udp",
        &[],
        datagrams_at(&[(0, 0), (500, 0), (500, lost)]),
    );
    run
}

fn unpinned(mut run: Fixture, result: &str) -> Fixture {
    let results = run.record.header.results.iter_mut();
    results.filter(|known| known.id == result).for_each(|known| known.placement = "free".into());
    run
}

pub(in crate::rules) fn swinging(by: f64) -> Fixture {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]).ping("plain", &[], 40_000.0);
    run.each("plain/ping", |trial| {
        let sign = f64::from((trial.block + trial.index) % 3) - 1.0;
        trial.measurement = ping_of(40_000.0 * (1.0 + by * sign));
    });
    run
}

pub(in crate::rules) fn swaying(by: f64) -> Fixture {
    let mut run = nested(10e9);
    run.each(UPPER, |trial| {
        let sign = if trial.block % 2 == 0 { 1.0 } else { -1.0 };
        trial.measurement = stream_of(10e9 * (1.0 + sign * by));
    });
    run
}

pub(in crate::rules) fn cut_off(reach: f64) -> Fixture {
    let mut run = nested(9e9);
    run.record.header.design =
        Design { budget: Some(Nanos::from_secs(60)), precision: Some(0.02), ..Design::default() };
    let reason = EndReason::Budget { reach: Some(reach) };
    run.record.ends.push(ResultEnd {
        result: UPPER.into(),
        reason,
        trials: 6,
        black_hole: None,
        counters: None,
    });
    run
}

pub(in crate::rules) fn retransmitting(segments: u32) -> Fixture {
    let mut run = nested(9e9);
    // 1.125 GB after the warm-up is 777 thousand segments.
    run.each(UPPER, |trial| tcp(trial, 2, |tcp| tcp.retransmits = segments));
    run
}

pub(in crate::rules) fn stalled(last: usize) -> Fixture {
    let mut run = nested(9e9);
    run.each(UPPER, |trial| {
        let Measurement::Stream(data) = &mut trial.measurement else { return };
        let ends = data.flows.iter_mut().flat_map(|flow| [&mut flow.sender, &mut flow.receiver]);
        ends.flat_map(|end| end.intervals.iter_mut().skip(last + 1))
            .for_each(|interval| interval.bytes = Bytes(0));
        tcp(trial, last + 1, |tcp| tcp.retransmits = 1);
    });
    run
}

pub(super) fn tcp(trial: &mut Trial, interval: usize, change: impl Fn(&mut TcpSample)) {
    let Measurement::Stream(data) = &mut trial.measurement else { return };
    change(data.flows[0].sender.intervals[interval].tcp.as_mut().expect("the fixture samples TCP_INFO"));
}

fn every_tcp(run: &mut Fixture, change: impl Fn(&mut TcpSample)) {
    run.each(UPPER, |trial| (0..5).for_each(|interval| tcp(trial, interval, &change)));
}

/// Senders limited by their own buffer for `millis` in each interval of 250 ms. The window is 64 KiB if `fixed`.
pub(in crate::rules) fn buffered(millis: u64, fixed: bool) -> Fixture {
    let mut run = nested(9e9);
    every_tcp(&mut run, |tcp| tcp.send_buffer_limited = Nanos::from_millis(millis));
    let window = fixed.then_some(Bytes(65_536));
    stream_load(&mut run, UPPER, |load| load.socket.window = window);
    run
}

/// Senders limited by the receiver's window for `millis` in each interval of 250 ms. The receiving thread is busy for
/// `busy_millis` per second.
pub(in crate::rules) fn windowed_by_receiver(millis: u64, busy_millis: u64) -> Fixture {
    let mut run = nested(9e9);
    every_tcp(&mut run, |tcp| tcp.receive_window_limited = Nanos::from_millis(millis));
    run.each(UPPER, |trial| trial.cpu.threads[1].busy = Nanos::from_millis(busy_millis));
    run
}

pub(in crate::rules) fn stream_load(run: &mut Fixture, result: &str, change: impl Fn(&mut StreamSettings)) {
    for record in run.record.header.results.iter_mut().filter(|record| record.id == result) {
        let samples::WorkloadSource::Load(WorkloadSettings::Stream(load)) = &mut record.sent else {
            unreachable!("it is a stream")
        };
        change(load);
    }
}

/// A stream of 9 Gbit/s with a round trip of a millisecond, i.e. with 1.125 MB in flight.
pub(in crate::rules) fn windowed(least_micros: u64, window: u64) -> Fixture {
    let mut run = nested(9e9);
    every_tcp(&mut run, |tcp| {
        (tcp.rtt, tcp.cwnd) = (Nanos::from_millis(1), Bytes(window));
        tcp.least_rtt = Some(Nanos(least_micros * 1000));
    });
    run
}

/// One of two CPUs spends `softirq_millis` per second in softirqs, and the other is busy for `other_millis`.
pub(in crate::rules) fn interrupted(softirq_millis: u64, other_millis: u64) -> Fixture {
    let mut run = nested(9e9);
    run.each(UPPER, |trial| {
        let cpu = |cpu, busy, softirq| CpuTimes {
            cpu,
            busy: Nanos::from_millis(busy),
            softirq: Nanos::from_millis(softirq),
            steal: Nanos(0),
        };
        trial.cpu.machine.by_cpu = vec![cpu(0, 990, softirq_millis), cpu(1, other_millis, 10)];
    });
    run
}

pub(in crate::rules) fn warned(trials: u32, warning: fn(f64) -> ValidityWarning) -> Fixture {
    let mut run = nested(9e9);
    let add = |trial: &mut Trial| trial.warnings.push(warning(0.9 + 0.04 * f64::from(trial.block)));
    run.each(UPPER, |trial| {
        if trial.block < trials {
            add(trial);
        }
    });
    run
}

/// A tunnel with half the rate of the path below. The tunnel needs `millis` CPU-milliseconds per second, and the path
/// below needs 1000. The senders are saturated.
pub(in crate::rules) fn costly(millis: u64) -> Fixture {
    let mut run = nested(5e9);
    for (result, busy) in [("plain/bulk", 1000), (UPPER, millis)] {
        run.each(result, |trial| {
            let machine = &mut trial.cpu.machine;
            (machine.user, machine.irq, machine.softirq) = (Nanos(0), Nanos(0), Nanos(0));
            (machine.system, machine.idle) = (Nanos::from_millis(busy), Nanos::from_millis(2000 - busy));
            trial.warnings.push(ValidityWarning::GeneratorLimited { end: "client".into(), busy: 0.99 });
        });
    }
    run
}

pub(in crate::rules) fn use_bbr(trial: &mut Trial) {
    let Measurement::Stream(data) = &mut trial.measurement else { return };
    data.flows[0].sender.socket.congestion = Some("bbr".into());
}

pub(in crate::rules) fn paced(rate: f64) -> Fixture {
    let mut run = two("congestion", ("cubic", 10e9), ("bbr", rate));
    run.each("plain/bulk/congestion=bbr", use_bbr);
    run
}

pub(in crate::rules) fn steady(rate: f64) -> Fixture {
    let mut run = Fixture::new(4);
    run.path("plain", &["network"]).measured("plain", "bulk", stream_settings(), &stream_of(rate));
    run.each("plain/bulk", use_bbr);
    run
}

pub(in crate::rules) fn reverse(rate: f64) -> Fixture {
    two("direction", ("forward", 10e9), ("reverse", rate)).logged()
}

pub(in crate::rules) fn both_ways(reverse: f64) -> Fixture {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]).stream("plain", &[], 10e9);
    run.each("plain/bulk", |trial| {
        let (Measurement::Stream(forward), Measurement::Stream(back)) =
            (&mut trial.measurement, stream_of(reverse))
        else {
            return;
        };
        forward.flows.extend(back.flows);
        forward.flows[1].direction = Direction::Reverse;
    });
    run
}

/// Datagrams of `payload` bytes over a path with an MTU of 1500.
pub(in crate::rules) fn datagrams(payload: u64) -> Fixture {
    let WorkloadSettings::Stream(settings) = stream_settings() else { unreachable!("it is a stream") };
    let load = StreamSettings { transport: Transport::Udp, message: Bytes(payload), ..settings };
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]);
    run.measured(
        "plain",
        "datagrams",
        WorkloadSettings::Stream(load),
        &datagrams_at(&[(1000, 0), (1000, 20), (1000, 20)]),
    );
    run.devices("plain/datagrams", &[("a:eth0", 1500, &[]), ("b:eth0", 1500, &[])]);
    run.each("plain/datagrams", |trial| trial.path_check = PathCheck { mtu: Some(1500), black_hole: None });
    run
}

/// Two thousand round trips of 40 µs, four of which took `times` times as long.
pub(in crate::rules) fn tailed(times: u64) -> Fixture {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]).ping("plain", &[], 40_000.0);
    run.each("plain/ping", |trial| trial.measurement = slow_at_times(40_000, 4, times));
    run
}

/// Two paths with equal medians. The second's tail is `times` times as long.
pub(in crate::rules) fn longer_tailed(times: u64) -> Fixture {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]).path("bridged", &["wire", "bridge"]);
    run.ping("plain", &[], 40_000.0).ping("bridged", &[], 40_000.0);
    run.each("plain/ping", |trial| trial.measurement = slow_at_times(40_000, 4, 2));
    run.each("bridged/ping", |trial| trial.measurement = slow_at_times(40_000, 4, 2 * times));
    run
}

fn slow_at_times(nanos: u64, slow: u64, times: u64) -> Measurement {
    let mut round_trips = LatencyHistogram::new();
    (0..2000).for_each(|index| {
        round_trips.record(Nanos(if index < slow { nanos * times } else { nanos + index }));
    });
    Measurement::PingPong(PingPongData {
        round_trips,
        elapsed: Nanos(nanos * 2000),
        lost: Some(0),
        ..PingPongData::default()
    })
}

pub(in crate::rules) fn asked(rate: f64) -> Fixture {
    let WorkloadSettings::Stream(settings) = stream_settings() else { unreachable!("it is a stream") };
    let load = WorkloadSettings::Stream(StreamSettings { rate: Some(BitRate(10e9)), ..settings });
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]).measured("plain", "bulk", load, &stream_of(rate));
    run
}

pub(in crate::rules) fn woken(micros: u64) -> Fixture {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]);
    run.measured(
        "plain",
        "ping",
        WorkloadSettings::PingPong(PingPongSettings::new(Nanos::from_secs(1))),
        &ping_of(micros as f64 * 1000.0),
    );
    let engine = samples::Calibration { clock_ns: 30.0, syscall_ns: 100.0, wake_ns: 10_000.0 };
    run.environment().engine = Some(engine);
    run
}

pub(in crate::rules) fn processor(model: &str) -> Fixture {
    let mut run = nested(9e9);
    run.environment().virtual_machine = true;
    run.environment().cpu_model = Some(model.into());
    run
}

pub(in crate::rules) fn queued(results: &[(&str, f64, u64)]) -> Fixture {
    let mut run = Fixture::new(6);
    run.path("plain", &["tap"]);
    for (queues, rate, busy) in results {
        run.stream("plain", &[("queues", queues)], *rate);
        run.each(&format!("plain/bulk/queues={queues}"), |trial| {
            let machine = &mut trial.cpu.machine;
            (machine.user, machine.irq, machine.softirq) = (Nanos(0), Nanos(0), Nanos(0));
            (machine.system, machine.idle) = (Nanos::from_millis(*busy), Nanos::from_millis(2000 - busy));
        });
    }
    run
}

pub(in crate::rules) fn pinged() -> Fixture {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]).measured("plain", "ping", ping_settings(), &ping_of(40_000.0));
    run
}

pub(in crate::rules) fn disturbed(blocks: fn(u32) -> bool) -> Fixture {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]).stream("plain", &[], 1e9).each("plain/bulk", |trial| {
        let by = vec![samples::Disturber { process: Some("cc1".into()), cpus: 1.2 }];
        let disturbed = ValidityWarning::Disturbed { share: 0.6, processes: by };
        trial.warnings.extend(blocks(trial.block).then_some(disturbed));
    });
    run
}

fn given_back(method: BalloonMethod, seconds: f64) -> Measurement {
    Measurement::Balloon(BalloonData {
        method,
        direction: BalloonMove::Shrink,
        moved: Bytes(1 << 30),
        first: Nanos::from_millis(2),
        elapsed: Nanos((seconds * 1e9) as u64),
        touching: Nanos(0),
        resident_before: Bytes(1 << 30),
        resident_after: Bytes(0),
        stall: Nanos::from_millis(1),
        intervals: Vec::new(),
    })
}

fn shrinks(run: &mut Fixture, workload: &str, touched: bool, method: BalloonMethod, seconds: f64) {
    let load =
        BalloonSettings { memory: Bytes(1 << 30), direction: BalloonMove::Shrink, touched, compact: false };
    let load = WorkloadSettings::Balloon(load);
    run.measured(method.word(), workload, load, &given_back(method, seconds));
    run.each(&format!("{}/{workload}", method.word()), |trial| {
        let Measurement::Balloon(data) = &mut trial.measurement else { return };
        data.elapsed = data.elapsed + Nanos(u64::from(trial.block) * 1_000_000);
    });
}

pub(in crate::rules) fn balloons(faster: f64) -> Fixture {
    let mut run = Fixture::new(6);
    for (method, seconds) in [(BalloonMethod::VirtioBalloon, 0.5 * faster), (BalloonMethod::VirtioMem, 0.5)] {
        run.path(method.word(), &[]);
        shrinks(&mut run, "shrink", true, method, seconds);
    }
    run
}

/// A balloon that needs half a second per GiB. QEMU spends `seconds` of this time freeing the memory.
pub(in crate::rules) fn freeing(seconds: f64) -> Fixture {
    let method = BalloonMethod::VirtioBalloon;
    let (mut run, id) = (Fixture::new(1), format!("{}/shrink", method.word()));
    run.path(method.word(), &[]);
    shrinks(&mut run, "shrink", true, method, 0.5);
    let call = |call: &str| SyscallCount {
        end: Some("client".into()),
        process: Some("qemu-system-x86".into()),
        thread: Some("CPU 0/TCG".into()),
        call: call.into(),
        calls: 262_144,
        errors: Some(0),
        total: Some(Nanos((seconds / 2.0 * 1e9) as u64)),
        running: Some(Nanos((seconds / 2.0 * 1e9) as u64)),
        ..SyscallCount::default()
    };
    run.probed(&id).seen(&id, |_, seen| seen.syscalls = vec![call("fallocate"), call("madvise")]);
    run
}

pub(in crate::rules) fn busy_sender(busy: f64) -> ValidityWarning {
    ValidityWarning::GeneratorLimited { end: "client".into(), busy }
}

pub(in crate::rules) fn busy_receiver(busy: f64) -> ValidityWarning {
    ValidityWarning::ReceiverLimited { end: "server".into(), busy }
}
