//! The flags of `plumb client`: iperf3's, unchanged, and plumb's own.

use std::{net::IpAddr, path::PathBuf};

use ::workload::{Mode, Placement};
use clap::{Args, Command, FromArgMatches};
use findings::FEWEST_TO_ESTABLISH;
use units::{BitRate, Bytes, Nanos};

use crate::{
    amount,
    commands::iperf3_flags::{Ignored, LogFile},
    dscp,
    failure::Misuse,
    host::{self, Family},
    pin,
    stored_trials::Repetition,
    value_parsers::{Word, one_of},
};

pub(crate) const PORT: u16 = 5201;

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ClientArgs {
    /// Name or address of a host running `plumb server` or `iperf3 -s`
    pub(super) host: String,
    #[command(flatten)]
    pub(super) reach: Reach,
    #[command(flatten)]
    pub(super) traffic: Traffic,
    #[command(flatten)]
    pub(super) socket: SocketFlags,
    #[command(flatten)]
    pub(super) login: Login,
    #[command(flatten)]
    pub(super) repetition: Repetition,
    #[command(flatten)]
    pub(super) output: Output,
    #[command(flatten)]
    pub(super) log_file: LogFile,
    #[command(flatten)]
    pub(super) ignored: Ignored,
    /// Accepted because iperf3 names the host with this flag
    #[arg(short, long, hide = true)]
    client: bool,
}

impl ClientArgs {
    /// Parses the flags for one side of `plumb vs`. `host` may include a port.
    pub(super) fn of_vs(host: &str, trials: Option<u32>, flags: &[String]) -> Result<Self, Misuse> {
        let (name, port) = host::with_port(host).unwrap_or((host, PORT));
        let own = ["plumb vs", name, "--title", host, "--port", &port.to_string(), "--repeat"];
        let trials = trials.unwrap_or(FEWEST_TO_ESTABLISH).to_string();
        let words = own.into_iter().map(str::to_owned).chain([trials]).chain(flags.iter().cloned());
        let command = Self::augment_args(Command::new("plumb vs"));
        let parsed = command.try_get_matches_from(words).and_then(|matches| Self::from_arg_matches(&matches));
        parsed.map_err(|error| {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Misuse::new(first.trim_start_matches("error: ")).hint("see `plumb client --help`")
        })
    }
}

const AFTER_HELP: &str = "Flags match iperf3's: sizes use powers of 1024 (128K), rates powers of 1000 \
    (100M). The closing summary and the `plumb` object of --json have confidence intervals, warnings and \
    hints. To measure connections per second: plumb ping HOST --connect.

Exit status: 0 success; 1 cannot connect, refused, or connection lost; 3 unsupported by this machine's \
    kernel; 64 usage error; 130 interrupted (partial results are printed).";

#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub(super) struct Reach {
    /// The server's port
    #[arg(short, long, default_value_t = PORT, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) port: u16,
    /// Connect from this local address
    #[arg(short = 'B', long, value_name = "ADDRESS", value_parser = host::own)]
    pub(super) bind: Option<IpAddr>,
    /// Connect from this port. Further connections use the following ports
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) cport: Option<u16>,
    #[command(flatten)]
    pub(super) family: Family,
    /// Connect timeout in milliseconds
    #[arg(long, value_name = "MS", value_parser = amount::milliseconds)]
    pub(super) connect_timeout: Option<Nanos>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Traffic")]
pub(super) struct Traffic {
    /// Test duration in seconds [default: 10]
    #[arg(short, long, alias = "for", value_name = "SECONDS", value_parser = amount::seconds)]
    pub(super) time: Option<Nanos>,
    /// Stop after this many bytes in total
    #[arg(short = 'n', long, value_name = "SIZE", value_parser = amount::size, conflicts_with = "time")]
    pub(super) bytes: Option<Bytes>,
    /// Stop after this many writes or datagrams
    #[arg(short = 'k', long, value_name = "COUNT", value_parser = amount::count, conflicts_with_all = ["time", "bytes"])]
    pub(super) blockcount: Option<u64>,
    /// Rate per connection in bits per second, 0 for no limit; RATE/N sends N writes or datagrams at a time [default:
    /// no limit; UDP: 1M]
    #[arg(short, long, alias = "bandwidth", value_name = "RATE[/N]", value_parser = pace)]
    pub(super) bitrate: Option<Pace>,
    /// Size of each write or datagram [default: 128K; UDP: fits the path MTU]
    #[arg(short, long, value_name = "SIZE", value_parser = amount::size)]
    pub(super) length: Option<Bytes>,
    /// Parallel connections
    #[arg(short = 'P', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=128))]
    pub(super) parallel: u32,
    /// Receive from the server instead of sending
    #[arg(short = 'R', long)]
    pub(super) reverse: bool,
    /// Send in both directions at once, over separate connections
    #[arg(long, alias = "bidirectional", conflicts_with = "reverse")]
    pub(super) bidir: bool,
    /// Use UDP instead of TCP
    #[arg(short, long)]
    pub(super) udp: bool,
    /// Use 64-bit datagram counters
    #[arg(long, requires = "udp")]
    pub(super) udp_counters_64bit: bool,
    /// Exclude the first seconds from the result
    #[arg(short = 'O', long, value_name = "SECONDS", value_parser = amount::seconds, conflicts_with_all = ["bytes", "blockcount"])]
    pub(super) omit: Option<Nanos>,
    /// Send without copying. This is iperf3's name for --mode limit
    #[arg(short = 'Z', long)]
    pub(super) zerocopy: bool,
    /// How to move data: as applications do, or at the lowest cost the kernel offers [default: app]
    #[arg(long, value_parser = one_of(MODES))]
    pub(super) mode: Option<Mode>,
    /// CPU placement: same (both ends on one CPU), cross (one CPU each), or lists: CLIENT[/SERVER]
    #[arg(long, value_name = "CPUS", value_parser = pin::placement, conflicts_with = "affinity")]
    pub(super) pin: Option<Placement>,
    /// CPU of the client, and of the server
    #[arg(short = 'A', long, value_name = "N[,M]", value_parser = pin::affinity)]
    pub(super) affinity: Option<Placement>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Sockets")]
pub(super) struct SocketFlags {
    /// Send and receive buffer size
    #[arg(short, long, value_name = "SIZE", value_parser = amount::size)]
    pub(super) window: Option<Bytes>,
    /// TCP maximum segment size
    #[arg(short = 'M', long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(88..=32767))]
    pub(super) set_mss: Option<u32>,
    /// TCP congestion control algorithm
    #[arg(short = 'C', long, alias = "linux-congestion", value_name = "NAME")]
    pub(super) congestion: Option<String>,
    /// Disable Nagle's algorithm (TCP)
    #[arg(short = 'N', long)]
    pub(super) no_delay: bool,
    /// Type-of-service byte: 0 to 255
    #[arg(short = 'S', long, value_name = "BYTE", value_parser = dscp::type_of_service, conflicts_with = "dscp")]
    pub(super) tos: Option<u8>,
    /// DSCP: 0 to 63, or a name, e.g. ef
    #[arg(long, value_name = "POINT", value_parser = dscp::code_point)]
    pub(super) dscp: Option<u8>,
    /// Busy-poll the device queue for this long before sleeping (microseconds without a unit)
    #[arg(long, value_name = "TIME", value_parser = amount::microseconds, num_args = 0..=1, default_missing_value = "50", require_equals = true)]
    pub(super) busy_poll: Option<Nanos>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Authentication (password from IPERF3_PASSWORD, or a prompt)")]
pub(super) struct Login {
    /// User name
    #[arg(long, value_name = "NAME", requires = "rsa_public_key_path")]
    pub(super) username: Option<String>,
    /// The server's public key (PEM)
    #[arg(long, value_name = "FILE", requires = "username")]
    pub(super) rsa_public_key_path: Option<PathBuf>,
    /// Try PKCS#1 v1.5 padding first, for servers before iperf3 3.17. By default, it is only a fallback
    #[arg(long, requires = "username")]
    pub(super) use_pkcs1_padding: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Output {
    /// Interval between lines in seconds. 0 disables these lines
    #[arg(short, long, value_name = "SECONDS", value_parser = amount::seconds, default_value = "1")]
    pub(super) interval: Nanos,
    /// Prefix every line with this text
    #[arg(short = 'T', long, value_name = "TEXT")]
    pub(super) title: Option<String>,
    /// Include this text in the JSON output of client and server
    #[arg(long, value_name = "TEXT")]
    pub(super) extra_data: Option<String>,
    /// Also print the server's output
    #[arg(long)]
    pub(super) get_server_output: bool,
    /// Print one JSON document with iperf3's fields
    #[arg(short = 'J', long)]
    pub(super) json: bool,
}

const MODES: &[Word<Mode>] = &[
    ("app", Mode::App, "Ordinary writes and copying reads: application throughput"),
    ("limit", Mode::Limit, "No copies, many datagrams per call: path capacity"),
];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pace {
    pub(super) rate: Option<BitRate>,
    pub(super) burst: Option<u32>,
}

fn pace(text: &str) -> Result<Pace, String> {
    let (rate, burst) = text.rsplit_once('/').filter(|(_, burst)| *burst != "s").unwrap_or((text, ""));
    let burst = match burst {
        "" if rate.len() == text.len() => None,
        number => Some(number.parse().ok().filter(|burst| (1..=1000).contains(burst)).ok_or_else(|| {
            format!("invalid burst `{number}`: use 1 to 1000 datagrams or writes per burst, e.g. 100M/10")
        })?),
    };
    Ok(Pace { rate: amount::rate(rate)?, burst })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_rate_with_burst() {
        for (text, rate, burst) in [
            ("100M", Some(1e8), None),
            ("100M/10", Some(1e8), Some(10)),
            ("0", None, None),
            ("1Gbit/s", Some(1e9), None),
            ("1Gbit/s/5", Some(1e9), Some(5)),
        ] {
            assert_eq!(pace(text), Ok(Pace { rate: rate.map(BitRate), burst }), "{text}");
        }
        for text in ["100M/", "100M/0", "100M/many", "fast/10"] {
            assert!(pace(text).is_err(), "{text}");
        }
    }
}
