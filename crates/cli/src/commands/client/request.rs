//! Turns the flags of `plumb client` into a workload. Reports conflicting flags.

use ::workload::{Direction, Mode, Placement, SocketSettings, StreamSettings, Transport, Until};
use units::{BitRate, Bytes, Nanos};

use super::flags::{ClientArgs, Traffic};
use crate::{amount::within, failure::Misuse, output};

const TIME: Nanos = Nanos::from_secs(10);
const TIMES: (Nanos, Nanos) = (Nanos::from_millis(100), Nanos::from_secs(86_400));
/// Minimum and maximum warm-up. iperf3 has the same maximum.
const WARMUPS: (Nanos, Nanos) = (Nanos(0), Nanos::from_secs(600));
/// The reporting intervals that iperf3 allows.
const INTERVALS: (Nanos, Nanos) = (Nanos::from_millis(100), Nanos::from_secs(60));
/// Maximum sampling interval. A short one gives enough samples for a confidence interval.
const SAMPLE: u64 = Nanos::from_millis(100).0;
/// The largest write that iperf3's server accepts.
const LARGEST_WRITE: Bytes = Bytes(1 << 20);
/// Large enough for iperf3's 32-bit or 64-bit counters.
const SMALLEST_DATAGRAM: Bytes = Bytes(16);
/// The largest datagram in IPv4.
const LARGEST_DATAGRAM: Bytes = Bytes(65_507);
const UDP_RATE: BitRate = BitRate(1e6);
/// Default size of datagrams with `-k`. It fits an MTU of 1500.
const DATAGRAM: Bytes = Bytes(1448);
/// The largest window in iperf3's protocol (MAX_TCP_BUFFER).
const LARGEST_WINDOW: Bytes = Bytes(512 << 20);
const FEWEST: f64 = 2.0;

pub(super) fn load(args: &ClientArgs) -> Result<StreamSettings, Misuse> {
    let traffic = &args.traffic;
    check(args)?;
    let message = message(traffic)?;
    let load = StreamSettings {
        transport: if traffic.udp { Transport::Udp } else { Transport::Tcp },
        mode: if traffic.zerocopy { Mode::Limit } else { mode(traffic) },
        streams: traffic.parallel,
        direction: match (traffic.reverse, traffic.bidir) {
            (true, _) => Direction::Reverse,
            (_, true) => Direction::Both,
            _ => Direction::Forward,
        },
        until: until(traffic, message)?,
        warmup: warmup(traffic.omit.unwrap_or_default()),
        message,
        rate: match traffic.bitrate {
            Some(pace) => pace.rate,
            None => traffic.udp.then_some(UDP_RATE),
        },
        socket: socket(args),
        interval: sampled(args.output.interval),
    };
    sends_enough(load)
}

/// Rounds up to whole seconds, because iperf3's protocol uses seconds.
fn warmup(omit: Nanos) -> Nanos {
    let whole = Nanos(omit.0.next_multiple_of(Nanos::from_secs(1).0));
    if whole != omit {
        output::aside(format!("note: -O rounded up to {whole}: iperf3's protocol uses whole seconds"));
    }
    whole
}

fn mode(traffic: &Traffic) -> Mode {
    traffic.mode.unwrap_or(Mode::App)
}

fn sends_enough(load: StreamSettings) -> Result<StreamSettings, Misuse> {
    let (Some(rate), Until::Elapsed(time)) = (load.rate, load.until) else { return Ok(load) };
    let message = if load.message.0 == 0 { DATAGRAM } else { load.message };
    let each = message.0 as f64 * 8.0 / rate.0;
    if time.seconds() >= each * FEWEST {
        return Ok(load);
    }
    let every = Nanos((each * 1e9) as u64);
    let message = format!("-b {rate} sends {message} every {every}: too slow for a test of {time}");
    Err(Misuse::new(message).hint("use a higher -b, a smaller -l, or a longer -t"))
}

pub(super) fn placement(args: &ClientArgs) -> Placement {
    let traffic = &args.traffic;
    traffic.pin.as_ref().or(traffic.affinity.as_ref()).cloned().unwrap_or(Placement::Free)
}

/// Returns a sampling interval that divides the reporting interval `shown` evenly.
fn sampled(shown: Nanos) -> Nanos {
    if shown.0 == 0 { Nanos(SAMPLE) } else { Nanos(shown.0 / shown.0.div_ceil(SAMPLE)) }
}

fn socket(args: &ClientArgs) -> SocketSettings {
    let flags = &args.socket;
    SocketSettings {
        congestion: flags.congestion.clone(),
        mss: flags.set_mss,
        window: flags.window,
        dscp: flags.dscp.or(flags.tos),
        nodelay: flags.no_delay.then_some(true),
        source_port: args.reach.cport,
        server_port: None,
        busy_poll: flags.busy_poll,
    }
}

fn until(traffic: &Traffic, message: Bytes) -> Result<Until, Misuse> {
    if let Some(bytes) = traffic.bytes {
        return Ok(Until::Sent(bytes));
    }
    if let Some(blocks) = traffic.blockcount {
        let each = if message.0 == 0 { DATAGRAM } else { message };
        let bytes = blocks.checked_mul(each.0).filter(|bytes| *bytes <= i64::MAX as u64);
        return Ok(Until::Sent(Bytes(bytes.ok_or_else(|| Misuse::new("-k times -l is too large"))?)));
    }
    within("-t", traffic.time.unwrap_or(TIME), TIMES).map(Until::Elapsed)
}

/// A datagram size of 0 means that the path determines the size.
fn message(traffic: &Traffic) -> Result<Bytes, Misuse> {
    let (least, most, what) = match traffic.udp {
        true => (SMALLEST_DATAGRAM, LARGEST_DATAGRAM, "a datagram"),
        false => (Bytes(1), LARGEST_WRITE, "a write in iperf3's protocol"),
    };
    match traffic.length {
        Some(length) if (least..=most).contains(&length) => Ok(length),
        Some(length) => {
            let message =
                format!("-l {} is not a valid size for {what}: use {} to {}", length.0, least.0, most.0);
            Err(Misuse::new(message))
        }
        None if traffic.udp && traffic.blockcount.is_some() => Ok(DATAGRAM),
        None if traffic.udp => Ok(Bytes(0)),
        None if mode(traffic) == Mode::Limit => Ok(LARGEST_WRITE),
        None => Ok(Bytes(128 << 10)),
    }
}

fn check(args: &ClientArgs) -> Result<(), Misuse> {
    let ClientArgs { traffic, socket, output, .. } = args;
    let of_tcp = [
        ("-C", socket.congestion.is_some()),
        ("-M", socket.set_mss.is_some()),
        ("-N", socket.no_delay),
        ("-Z", traffic.zerocopy),
    ];
    if let Some((flag, _)) = of_tcp.iter().find(|(_, given)| traffic.udp && *given) {
        return Err(Misuse::new(format!("{flag} applies to TCP only, but -u selects UDP")));
    }
    if traffic.zerocopy && traffic.mode == Some(Mode::App) {
        return Err(
            Misuse::new("-Z conflicts with --mode app: it selects --mode limit").hint("remove one of them")
        );
    }
    if let Some(window) = socket.window.filter(|window| *window > LARGEST_WINDOW) {
        let message =
            format!("-w {window} exceeds the limit of iperf3's protocol: use at most {LARGEST_WINDOW}");
        return Err(Misuse::new(message).hint("remove it to let the kernel size the buffers"));
    }
    if output.interval.0 > 0 {
        let _ = within("-i", output.interval, INTERVALS)?;
    }
    let _ = within("-O", traffic.omit.unwrap_or_default(), WARMUPS)?;
    let flows = traffic.parallel * if traffic.bidir { 2 } else { 1 };
    match args.reach.cport {
        Some(first) if u32::from(first) + flows > 65_536 => {
            Err(Misuse::new(format!("--cport {first} leaves too few ports for {flows} connections")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        args: ClientArgs,
    }

    fn parsed(line: &str) -> Result<StreamSettings, String> {
        let words = ["client", "host"].into_iter().chain(line.split_whitespace());
        let parsed = Typed::try_parse_from(words).map_err(|error| error.to_string())?;
        load(&parsed.args).map_err(|misuse| misuse.to_string())
    }

    fn usual() -> StreamSettings {
        StreamSettings::new(Until::Elapsed(Nanos::from_secs(10)))
    }

    fn check(line: &str, change: impl FnOnce(&mut StreamSettings)) {
        let mut expected = usual();
        change(&mut expected);
        assert_eq!(parsed(line), Ok(expected), "{line}");
    }

    #[test]
    fn flags_match_iperf3() {
        check("", |_| {});
        check("-t 3", |load| load.until = Until::Elapsed(Nanos::from_secs(3)));
        check("-n 10M", |load| load.until = Until::Sent(Bytes(10 << 20)));
        check("-k 100 -l 1K", |load| (load.until, load.message) = (Until::Sent(Bytes(102_400)), Bytes(1024)));
        check("-b 100M/10", |load| load.rate = Some(BitRate(1e8)));
        check("-b 0", |load| load.rate = None);
        check("-P 4", |load| load.streams = 4);
        check("-R", |load| load.direction = Direction::Reverse);
        check("--bidir", |load| load.direction = Direction::Both);
        check("-O 2", |load| load.warmup = Nanos::from_secs(2));
        check("-O .3", |load| load.warmup = Nanos::from_secs(1));
        check("-c -V -f m -d --forceflush --repeating-payload --pacing-timer 500", |_| {});
        check("--mode limit", |load| (load.mode, load.message) = (Mode::Limit, Bytes(1 << 20)));
        check("-w 1M", |load| load.socket.window = Some(Bytes(1 << 20)));
        check("-M 1400", |load| load.socket.mss = Some(1400));
        check("-C reno", |load| load.socket.congestion = Some("reno".into()));
        check("-Z", |load| load.mode = Mode::Limit);
        check("-Z --mode limit", |load| (load.mode, load.message) = (Mode::Limit, Bytes(1 << 20)));
        check("-N", |load| load.socket.nodelay = Some(true));
        check("-S 0xb8", |load| load.socket.dscp = Some(46));
        check("--dscp ef", |load| load.socket.dscp = Some(46));
        check("--cport 40000", |load| load.socket.source_port = Some(40_000));
        check("--busy-poll", |load| load.socket.busy_poll = Some(Nanos(50_000)));
        check("--busy-poll=20us", |load| load.socket.busy_poll = Some(Nanos(20_000)));
    }

    #[test]
    fn udp_has_default_rate_and_path_sized_datagrams() {
        let udp = |load: &mut StreamSettings| {
            (load.transport, load.rate, load.message) = (Transport::Udp, Some(BitRate(1e6)), Bytes(0));
        };
        check("-u", udp);
        check("-u -b 0", |load| {
            udp(load);
            load.rate = None;
        });
        check("-u -l 1200 -b 1G", |load| {
            udp(load);
            (load.message, load.rate) = (Bytes(1200), Some(BitRate(1e9)));
        });
    }

    #[test]
    fn samples_divide_printed_interval() {
        for (shown, sample) in [("1", 100), ("0.5", 100), ("0.1", 100), ("60", 100), ("0", 100), ("0.15", 75)]
        {
            check(&format!("-i {shown}"), |load| load.interval = Nanos::from_millis(sample));
        }
    }

    #[test]
    fn refuses_invalid_flags_by_name() {
        for (line, word) in [
            ("-t 0", "-t"),
            ("-t soon", "500ms"),
            ("-i 0.01", "-i"),
            ("-O 601", "-O"),
            ("-u -C cubic", "-C"),
            ("-u -M 1400", "-M"),
            ("-u -Z", "-Z"),
            ("-u -l 8", "-l"),
            ("-u -l 70000", "65507"),
            ("-l 2M", "-l"),
            ("-k 8000000000G -l 1M", "-k"),
            ("--cport 65535 -P 2", "--cport"),
            ("-P 129", "128"),
            ("-t 1 -n 1M", "--time"),
            ("-n 1M -O 1", "--omit"),
            ("-R --bidir", "--bidir"),
            ("--udp-counters-64bit", "--udp"),
            ("--pin same -A 1", "--affinity"),
            ("-S 8 --dscp 2", "--dscp"),
            ("--username me", "--rsa-public-key-path"),
            ("-4 -6", "--version6"),
            ("-Z --mode app", "-Z"),
            ("-w 10G", "512 MiB"),
            ("-b 1", "-b"),
            ("-u -b 1k -t 1", "every 11.6 s"),
        ] {
            let error = parsed(line).expect_err(line);
            assert!(error.contains(word), "{line}: {error}");
        }
    }

    #[test]
    fn both_flags_place_threads() {
        for (line, expected) in [
            ("", Placement::Free),
            ("--pin cross", Placement::CrossCpu),
            ("-A 0,1", Placement::Cpus { client: vec![0], server: vec![1] }),
        ] {
            let words = ["client", "host"].into_iter().chain(line.split_whitespace());
            assert_eq!(placement(&Typed::parse_from(words).args), expected, "{line}");
        }
    }
}
