//! The flags of `plumb ping`, as written.

use std::net::IpAddr;

use ::workload::Placement;
use clap::Args;
use units::{BitRate, Bytes, Nanos};

use crate::{
    amount, dscp,
    host::{self, Family},
    kept_trials::Repetition,
    pin,
};

/// Flags of `plumb ping`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct PingArgs {
    /// A host that runs `plumb server` (or, with --sockperf, `sockperf server`): a name or an address
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

const AFTER_HELP: &str = "\
Every time is a whole round trip, never half of it. With --rate, messages leave by the clock whether or not \
the last one came back; then times count from when each should have left, so that a stall is not hidden, and \
stand beside those from when it did leave.

Exit status: 0 measured; 1 no connection, refused, broken off, or nothing came back; 3 this machine's kernel \
lacks what was asked; 64 usage error; 130 interrupted (what was measured is \
printed).";

/// What a ping is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Kind")]
pub(super) struct Kind {
    /// Over UDP (the default)
    #[arg(long, conflicts_with_all = ["tcp", "connect"])]
    pub(super) udp: bool,
    /// Over one TCP connection
    #[arg(long, conflicts_with = "connect")]
    pub(super) tcp: bool,
    /// Connect, ask, get the answer and close, again and again: how many connections a second
    #[arg(long, conflicts_with_all = ["rate", "spin", "under", "sockperf"])]
    pub(super) connect: bool,
    /// Speak sockperf's protocol, to a stock `sockperf server`
    #[arg(long)]
    pub(super) sockperf: bool,
}

/// How the server is reached.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub(super) struct Reach {
    /// The server's port [default: 5201; 11111 with --sockperf]
    #[arg(short, long, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) port: Option<u16>,
    /// Send from this address of this machine
    #[arg(short = 'B', long, value_name = "ADDRESS", value_parser = host::own)]
    pub(super) bind: Option<IpAddr>,
    #[command(flatten)]
    pub(super) family: Family,
}

/// What is sent.
#[derive(Debug, Args)]
#[command(next_help_heading = "Traffic")]
pub(super) struct Traffic {
    /// Measure for so long (seconds)
    #[arg(short, long, alias = "for", value_name = "SECONDS", value_parser = amount::seconds, default_value = "10")]
    pub(super) time: Nanos,
    /// Leave so long at the start out of the result (seconds)
    #[arg(long, value_name = "SECONDS", value_parser = amount::seconds, default_value = "500ms")]
    pub(super) warmup: Nanos,
    /// The size of a message, the same both ways
    #[arg(short = 'm', long, alias = "msg-size", value_name = "SIZE", value_parser = amount::size, default_value = "64")]
    pub(super) size: Bytes,
    /// Send so many messages a second by the clock, as 10k (open loop); else each when the last is back
    #[arg(long, alias = "mps", value_name = "RATE", value_parser = amount::frequency)]
    pub(super) rate: Option<f64>,
    /// Ask again and again instead of sleeping; takes a whole CPU
    #[arg(long, alias = "nonblocked")]
    pub(super) spin: bool,
    /// Poll the device's queue for so long before sleeping (microseconds with no unit)
    #[arg(long, value_name = "TIME", value_parser = amount::microseconds, num_args = 0..=1, default_missing_value = "50", require_equals = true)]
    pub(super) busy_poll: Option<Nanos>,
    /// Send a TCP stream beside it at this rate, or as fast as it goes: 1G, max
    #[arg(long, value_name = "RATE|max", value_parser = under, conflicts_with = "sockperf")]
    pub(super) under: Option<Under>,
    /// CPUs of this end's threads, as 0,2; the server's: taskset -c LIST plumb server
    #[arg(long, value_name = "LIST", value_parser = pin::placement)]
    pub(super) pin: Option<Placement>,
    /// Code point: 0 to 63, or a name as ef
    #[arg(long, value_name = "POINT", value_parser = dscp::code_point)]
    pub(super) dscp: Option<u8>,
    /// With --connect: so many clients, each with one connection at a time
    #[arg(long, value_name = "N", default_value_t = 1, requires = "connect", value_parser = clap::value_parser!(u32).range(1..=128))]
    pub(super) clients: u32,
}

/// What is printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Output {
    /// Print a line so often (seconds); 0 for none
    #[arg(short, long, value_name = "SECONDS", value_parser = amount::seconds, default_value = "1")]
    pub(super) interval: Nanos,
    /// Print one JSON document
    #[arg(short = 'J', long)]
    pub(super) json: bool,
}

/// The rate of the stream beside; `None` is as fast as it goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Under(pub(super) Option<BitRate>);

/// Less than this is a unit that was forgotten.
const LEAST_UNDER: BitRate = BitRate(1e4);

fn under(text: &str) -> Result<Under, String> {
    if text == "max" {
        return Ok(Under(None));
    }
    let rate = amount::rate(text)?;
    if let Some(rate) = rate.filter(|rate| *rate < LEAST_UNDER) {
        return Err(format!("`{text}` is {rate}, which no path feels: write a unit, as 1M or 1G, or max"));
    }
    rate.map(|rate| Under(Some(rate)))
        .ok_or_else(|| "a stream of nought is none: write a rate as 1G, or max".to_owned())
}
