//! Turns the flags of `plumb ping` into a workload. Reports conflicting flags.

use ::workload::{
    Background, ConnectSettings, Direction, Mode, PingPongSettings, Schedule, SocketSettings, Transport,
    Waiting, WorkloadSettings,
};
use units::{Bytes, Nanos};

use super::flags::PingArgs;
use crate::{amount::within, failure::Misuse};

const TIMES: (Nanos, Nanos) = (Nanos::from_millis(10), Nanos::from_secs(86_400));
const WARMUPS: (Nanos, Nanos) = (Nanos(0), Nanos::from_secs(600));
const INTERVALS: (Nanos, Nanos) = (Nanos::from_millis(10), Nanos::from_secs(60));
const UNSEEN: Nanos = Nanos::from_millis(500);
/// Messages per second. At higher rates, messages cannot be sent individually.
const FASTEST: f64 = 1_000_000.0;
const FEWEST: f64 = 2.0;
/// The smallest message in sockperf's protocol is only a header.
const SOCKPERF_LEAST: Bytes = Bytes(14);
const LARGEST: Bytes = Bytes(60_000);

pub(super) fn load(args: &PingArgs) -> Result<WorkloadSettings, Misuse> {
    check(args)?;
    Ok(if args.kind.connect {
        WorkloadSettings::Connect(connect(args))
    } else {
        WorkloadSettings::PingPong(ping_pong(args))
    })
}

fn connect(args: &PingArgs) -> ConnectSettings {
    let traffic = &args.traffic;
    ConnectSettings {
        clients: traffic.clients,
        request: traffic.size,
        response: traffic.size,
        warmup: traffic.warmup,
        socket: socket(args),
        interval: display_interval(args),
        ..ConnectSettings::new(traffic.time)
    }
}

fn ping_pong(args: &PingArgs) -> PingPongSettings {
    let traffic = &args.traffic;
    let period = |rate: f64| Schedule::Open { period: Nanos((1e9 / rate).round() as u64) };
    PingPongSettings {
        transport: if args.kind.tcp { Transport::Tcp } else { Transport::Udp },
        message: traffic.size,
        schedule: traffic.rate.map_or(Schedule::Closed, period),
        waiting: if traffic.spin { Waiting::Spin } else { Waiting::Block },
        under: traffic.under.map(|under| Background {
            mode: Mode::App,
            streams: 1,
            direction: Direction::Forward,
            rate: under.0,
            message: Bytes(128 << 10),
        }),
        duration: traffic.time,
        warmup: traffic.warmup,
        socket: socket(args),
        interval: display_interval(args),
    }
}

fn socket(args: &PingArgs) -> SocketSettings {
    let traffic = &args.traffic;
    SocketSettings { dscp: traffic.dscp, busy_poll: traffic.busy_poll, ..SocketSettings::kernel() }
}

fn display_interval(args: &PingArgs) -> Nanos {
    if args.output.interval.0 == 0 { UNSEEN } else { args.output.interval }
}

fn check(args: &PingArgs) -> Result<(), Misuse> {
    let (traffic, kind) = (&args.traffic, &args.kind);
    let _ = within("-t", traffic.time, TIMES)?;
    let _ = within("--warmup", traffic.warmup, WARMUPS)?;
    if args.output.interval.0 > 0 {
        let _ = within("-i", args.output.interval, INTERVALS)?;
    }
    rate(args)?;
    let least = if kind.sockperf { SOCKPERF_LEAST } else { Bytes(1) };
    if !(least..=LARGEST).contains(&traffic.size) {
        let subject = if kind.sockperf { "sockperf requires" } else { "use" };
        let message = format!("--size {}: {subject} {} to {} bytes", traffic.size.0, least.0, LARGEST.0);
        return Err(Misuse::new(message));
    }
    Ok(())
}

fn rate(args: &PingArgs) -> Result<(), Misuse> {
    let (Some(rate), time) = (args.traffic.rate, args.traffic.time) else { return Ok(()) };
    if rate > FASTEST {
        let message = format!("--rate {rate} is out of range: use at most {FASTEST} messages per second");
        return Err(
            Misuse::new(message).hint("for a rate in bits per second, use `plumb client HOST -b RATE`")
        );
    }
    if time.seconds() * rate >= FEWEST {
        return Ok(());
    }
    let every = Nanos((1e9 / rate) as u64);
    let message = format!("--rate {rate} sends a message every {every}: too slow for a test of {time} (-t)");
    Err(Misuse::new(message).hint("use a higher --rate or a longer -t"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use units::BitRate;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        args: PingArgs,
    }

    fn parsed(line: &str) -> Result<WorkloadSettings, String> {
        let words = ["ping", "host"].into_iter().chain(line.split_whitespace());
        let parsed = Typed::try_parse_from(words).map_err(|error| error.to_string())?;
        load(&parsed.args).map_err(|misuse| misuse.to_string())
    }

    fn check(line: &str, change: impl FnOnce(&mut PingPongSettings)) {
        let mut expected = PingPongSettings {
            warmup: Nanos::from_millis(500),
            interval: Nanos::from_secs(1),
            ..PingPongSettings::new(Nanos::from_secs(10))
        };
        change(&mut expected);
        assert_eq!(parsed(line), Ok(WorkloadSettings::PingPong(expected)), "{line}");
    }

    #[test]
    fn each_flag_changes_one_setting() {
        check("", |_| {});
        check("--udp", |_| {});
        check("--tcp", |load| load.transport = Transport::Tcp);
        check("-t 3 --warmup 0", |load| (load.duration, load.warmup) = (Nanos::from_secs(3), Nanos(0)));
        check("-m 1K", |load| load.message = Bytes(1024));
        check("--rate 10k", |load| load.schedule = Schedule::Open { period: Nanos(100_000) });
        check("--spin", |load| load.waiting = Waiting::Spin);
        check("--busy-poll=20", |load| load.socket.busy_poll = Some(Nanos(20_000)));
        check("--busy-poll", |load| load.socket.busy_poll = Some(Nanos(50_000)));
        check("--dscp ef", |load| load.socket.dscp = Some(46));
        check("-i 0", |load| load.interval = Nanos::from_millis(500));
        check("--sockperf", |_| {});
    }

    #[test]
    fn background_stream_has_optional_rate() {
        for (line, rate) in [("--under 1G", Some(BitRate(1e9))), ("--under max", None)] {
            let Ok(WorkloadSettings::PingPong(load)) = parsed(line) else { panic!("{line}") };
            assert_eq!(load.under.map(|under| (under.streams, under.rate)), Some((1, rate)), "{line}");
        }
    }

    #[test]
    fn connect_selects_connection_workload() {
        let Ok(WorkloadSettings::Connect(load)) = parsed("--connect --clients 4 -m 100 -t 2") else {
            panic!("connections")
        };
        assert_eq!((load.clients, load.request, load.response), (4, Bytes(100), Bytes(100)));
        assert_eq!(load.duration, Nanos::from_secs(2));
    }

    #[test]
    fn refuses_invalid_flags_by_name() {
        for (line, word) in [
            ("--tcp --udp", "--tcp"),
            ("--tcp --connect", "--connect"),
            ("--connect --rate 10", "--rate"),
            ("--sockperf --under max", "--under"),
            ("--clients 2", "--connect"),
            ("-t 0", "-t"),
            ("--rate 0", "10k"),
            ("--rate 1G", "--rate"),
            ("--rate 10M", "1000000"),
            ("--rate 0.1", "every 10.0 s"),
            ("--rate 1 -t 1", "-t"),
            ("--under 0", "max"),
            ("-m 64K", "60000"),
            ("--sockperf -m 8", "14"),
            ("-i 0.001", "-i"),
        ] {
            let error = parsed(line).expect_err(line);
            assert!(error.contains(word), "{line}: {error}");
        }
    }
}
