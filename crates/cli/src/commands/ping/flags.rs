//! The flags of `plumb ping`.

use std::net::IpAddr;

use ::workload::Placement;
use clap::Args;
use units::{BitRate, Bytes, Nanos};

use crate::{
    amount, dscp,
    host::{self, Family},
    pin,
    stored_trials::Repetition,
};

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct PingArgs {
    /// Name or address of a host running `plumb server` (or `sockperf server` with --sockperf)
    pub(super) host: String,
    #[command(flatten)]
    pub(super) kind: Kind,
    #[command(flatten)]
    pub(super) reach: Reach,
    #[command(flatten)]
    pub(super) traffic: Traffic,
    #[command(flatten)]
    pub(super) repetition: Repetition,
    #[command(flatten)]
    pub(super) output: Output,
}

const AFTER_HELP: &str = "Latencies are full round trips, never halved. With --rate, messages are sent on \
    a schedule without waiting for replies (open loop). Latency is then measured from the scheduled send \
    time, so that stalls are not hidden, and additionally from the actual send time.

Exit status: 0 success; 1 cannot connect, refused, connection lost, or no replies; 3 unsupported by this \
    machine's kernel; 64 usage error; 130 interrupted (partial results are printed).";

#[derive(Debug, Args)]
#[command(next_help_heading = "Kind")]
pub(super) struct Kind {
    /// Use UDP (the default)
    #[arg(long, conflicts_with_all = ["tcp", "connect"])]
    pub(super) udp: bool,
    /// Use one TCP connection
    #[arg(long, conflicts_with = "connect")]
    pub(super) tcp: bool,
    /// Measure connections per second: connect, send a request, receive the reply, close
    #[arg(long, conflicts_with_all = ["rate", "spin", "under", "sockperf"])]
    pub(super) connect: bool,
    /// Use sockperf's protocol, for a stock `sockperf server`
    #[arg(long)]
    pub(super) sockperf: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub(super) struct Reach {
    /// The server's port [default: 5201; 11111 with --sockperf]
    #[arg(short, long, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) port: Option<u16>,
    /// Send from this local address
    #[arg(short = 'B', long, value_name = "ADDRESS", value_parser = host::own)]
    pub(super) bind: Option<IpAddr>,
    #[command(flatten)]
    pub(super) family: Family,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Traffic")]
pub(super) struct Traffic {
    /// Test duration in seconds
    #[arg(short, long, alias = "for", value_name = "SECONDS", value_parser = amount::seconds, default_value = "10")]
    pub(super) time: Nanos,
    /// Warm-up in seconds, excluded from the result
    #[arg(long, value_name = "SECONDS", value_parser = amount::seconds, default_value = "500ms")]
    pub(super) warmup: Nanos,
    /// Message size in both directions
    #[arg(short = 'm', long, alias = "msg-size", value_name = "SIZE", value_parser = amount::size, default_value = "64")]
    pub(super) size: Bytes,
    /// Send this many messages per second on a schedule (open loop), e.g. 10k [default: send each after the
    /// previous reply]
    #[arg(long, alias = "mps", value_name = "RATE", value_parser = amount::frequency)]
    pub(super) rate: Option<f64>,
    /// Busy-wait instead of sleeping. This uses a whole CPU
    #[arg(long, alias = "nonblocked")]
    pub(super) spin: bool,
    /// Busy-poll the device queue for this long before sleeping (microseconds without a unit)
    #[arg(long, value_name = "TIME", value_parser = amount::microseconds, num_args = 0..=1, default_missing_value = "50", require_equals = true)]
    pub(super) busy_poll: Option<Nanos>,
    /// Add a background TCP stream at this rate, e.g. 1G, or at full speed: max
    #[arg(long, value_name = "RATE|max", value_parser = under, conflicts_with = "sockperf")]
    pub(super) under: Option<Under>,
    /// CPUs of the client's threads, e.g. 0,2 (for the server: taskset -c LIST plumb server)
    #[arg(long, value_name = "LIST", value_parser = pin::placement)]
    pub(super) pin: Option<Placement>,
    /// DSCP: 0 to 63, or a name, e.g. ef
    #[arg(long, value_name = "POINT", value_parser = dscp::code_point)]
    pub(super) dscp: Option<u8>,
    /// With --connect: number of clients, each with one connection at a time
    #[arg(long, value_name = "N", default_value_t = 1, requires = "connect", value_parser = clap::value_parser!(u32).range(1..=128))]
    pub(super) clients: u32,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Output {
    /// Interval between lines in seconds. 0 disables these lines
    #[arg(short, long, value_name = "SECONDS", value_parser = amount::seconds, default_value = "1")]
    pub(super) interval: Nanos,
    /// Print one JSON document
    #[arg(short = 'J', long)]
    pub(super) json: bool,
}

/// The rate of the background stream. `None` means full speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Under(pub(super) Option<BitRate>);

/// Below this rate, the user probably forgot the unit.
const LEAST_UNDER: BitRate = BitRate(1e4);

fn under(text: &str) -> Result<Under, String> {
    if text == "max" {
        return Ok(Under(None));
    }
    let rate = amount::rate(text)?;
    if let Some(rate) = rate.filter(|rate| *rate < LEAST_UNDER) {
        return Err(format!(
            "`{text}` means {rate}, too low to load a path: add a unit, e.g. 1M or 1G, or \
            use max"
        ));
    }
    rate.map(|rate| Under(Some(rate)))
        .ok_or_else(|| "a background stream needs a rate above 0: use e.g. 1G, or max".to_owned())
}
