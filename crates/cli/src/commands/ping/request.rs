//! What the flags of `plumb ping` come to together: a load, or what is wrong with them.

use ::load::{
    Background, ConnectLoad, Direction, Load, Mode, PingPongLoad, Schedule, SocketSettings, Transport,
    Waiting,
};
use units::{Bytes, Nanos};

use super::flags::PingArgs;
use crate::failure::Misuse;

const SHORTEST: Nanos = Nanos::from_millis(10);
const LONGEST: Nanos = Nanos::from_secs(86_400);
const LONGEST_WARMUP: Nanos = Nanos::from_secs(600);
const INTERVALS: (Nanos, Nanos) = (Nanos::from_millis(10), Nanos::from_secs(60));
/// How often a histogram is begun when no line is to be printed.
const UNSEEN: Nanos = Nanos::from_millis(500);
/// Messages a second: from one to as many as a clock can tell apart.
const RATES: std::ops::RangeInclusive<f64> = 0.01..=10_000_000.0;
/// sockperf's header (its own least size).
const SOCKPERF_LEAST: Bytes = Bytes(14);
const LARGEST: Bytes = Bytes(60_000);

/// The load that is asked for.
pub(super) fn load(args: &PingArgs) -> Result<Load, Misuse> {
    check(args)?;
    Ok(if args.kind.connect { Load::Connect(connect(args)) } else { Load::PingPong(ping_pong(args)) })
}

fn connect(args: &PingArgs) -> ConnectLoad {
    let traffic = &args.traffic;
    ConnectLoad {
        clients: traffic.clients,
        request: traffic.size,
        response: traffic.size,
        warmup: traffic.warmup,
        socket: socket(args),
        interval: shown(args),
        ..ConnectLoad::new(traffic.time)
    }
}

fn ping_pong(args: &PingArgs) -> PingPongLoad {
    let traffic = &args.traffic;
    let period = |rate: f64| Schedule::Open { period: Nanos((1e9 / rate).round() as u64) };
    PingPongLoad {
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
        interval: shown(args),
    }
}

fn socket(args: &PingArgs) -> SocketSettings {
    let traffic = &args.traffic;
    SocketSettings { dscp: traffic.dscp, busy_poll: traffic.busy_poll, ..SocketSettings::kernel() }
}

fn shown(args: &PingArgs) -> Nanos {
    if args.output.interval.0 == 0 { UNSEEN } else { args.output.interval }
}

fn check(args: &PingArgs) -> Result<(), Misuse> {
    let (traffic, kind) = (&args.traffic, &args.kind);
    within("-t", traffic.time, SHORTEST, LONGEST)?;
    within("--warmup", traffic.warmup, Nanos(0), LONGEST_WARMUP)?;
    if args.output.interval.0 > 0 {
        within("-i", args.output.interval, INTERVALS.0, INTERVALS.1)?;
    }
    if let Some(rate) = traffic.rate.filter(|rate| !RATES.contains(rate)) {
        let (least, most) = (RATES.start(), RATES.end());
        return Err(Misuse::new(format!("--rate {rate} is out of range: choose {least} to {most} a second")));
    }
    let least = if kind.sockperf { SOCKPERF_LEAST } else { Bytes(1) };
    if !(least..=LARGEST).contains(&traffic.size) {
        let whose = if kind.sockperf { "sockperf's messages have" } else { "choose" };
        let message = format!("--size {}: {whose} {} to {} bytes", traffic.size.0, least.0, LARGEST.0);
        return Err(Misuse::new(message));
    }
    Ok(())
}

fn within(flag: &str, time: Nanos, least: Nanos, most: Nanos) -> Result<(), Misuse> {
    if (least..=most).contains(&time) {
        return Ok(());
    }
    let (asked, least, most) = (time.seconds(), least.seconds(), most.seconds());
    Err(Misuse::new(format!("{flag} {asked} is out of range: choose {least} to {most} seconds")))
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

    fn typed(line: &str) -> Result<Load, String> {
        let words = ["ping", "host"].into_iter().chain(line.split_whitespace());
        let typed = Typed::try_parse_from(words).map_err(|error| error.to_string())?;
        load(&typed.args).map_err(|misuse| misuse.to_string())
    }

    /// A flag changes one thing only.
    fn check(line: &str, change: impl FnOnce(&mut PingPongLoad)) {
        let mut expected = PingPongLoad {
            warmup: Nanos::from_millis(500),
            interval: Nanos::from_secs(1),
            ..PingPongLoad::new(Nanos::from_secs(10))
        };
        change(&mut expected);
        assert_eq!(typed(line), Ok(Load::PingPong(expected)), "{line}");
    }

    #[test]
    fn each_flag_changes_what_it_says() {
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
    fn a_stream_beside_has_a_rate_or_none() {
        for (line, rate) in [("--under 1G", Some(BitRate(1e9))), ("--under max", None)] {
            let Ok(Load::PingPong(load)) = typed(line) else { panic!("{line}") };
            assert_eq!(load.under.map(|under| (under.streams, under.rate)), Some((1, rate)), "{line}");
        }
    }

    #[test]
    fn connections_are_a_load_of_their_own() {
        let Ok(Load::Connect(load)) = typed("--connect --clients 4 -m 100 -t 2") else {
            panic!("connections")
        };
        assert_eq!((load.clients, load.request, load.response), (4, Bytes(100), Bytes(100)));
        assert_eq!(load.duration, Nanos::from_secs(2));
    }

    #[test]
    fn what_makes_no_sense_is_refused_and_names_the_flag() {
        for (line, word) in [
            ("--tcp --udp", "--tcp"),
            ("--tcp --connect", "--connect"),
            ("--connect --rate 10", "--rate"),
            ("--sockperf --under max", "--under"),
            ("--clients 2", "--connect"),
            ("-t 0", "-t"),
            ("--rate 0", "10k"),
            ("--rate 1G", "--rate"),
            ("--under 0", "max"),
            ("-m 64K", "60000"),
            ("--sockperf -m 8", "14"),
            ("-i 0.001", "-i"),
        ] {
            let said = typed(line).expect_err(line);
            assert!(said.contains(word), "{line}: {said}");
        }
    }
}
