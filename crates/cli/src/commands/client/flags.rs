//! The flags of `plumb client`: iperf3's own, with its letters and meaning, and what plumb adds.
//!
//! As written: what they come to together is request.rs's.

use std::{net::IpAddr, path::PathBuf};

use ::workload::{Mode, Placement};
use clap::Args;
use units::{BitRate, Bytes, Nanos};

use crate::{
    amount, dscp,
    host::{self, Family},
    kept_trials::Repetition,
    pin,
    value_parsers::{Word, one_of},
};

/// The port that iperf3 and plumb serve on.
pub(crate) const PORT: u16 = 5201;

/// Flags of `plumb client`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ClientArgs {
    /// A host that runs `plumb server` or `iperf3 -s`: a name or an address
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
}

const AFTER_HELP: &str = "\
Flags have iperf3's letters and meaning: sizes in powers of 1024 (128K), rates in powers of 1000 (100M). \
The interval of confidence, doubts and hints stand in the closing summary, and in the object `plumb` of --json. \
How many connections a second: plumb ping HOST --connect.

Exit status: 0 measured; 1 no connection, refused, or broken off; 3 this machine's kernel lacks what was asked; \
64 usage error; 130 interrupted (what was measured is printed).";

/// How the server is reached.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub(super) struct Reach {
    /// The server's port
    #[arg(short, long, default_value_t = PORT, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) port: u16,
    /// Connect from this address of this machine
    #[arg(short = 'B', long, value_name = "ADDRESS", value_parser = host::own)]
    pub(super) bind: Option<IpAddr>,
    /// Connect from this port; each further connection from the next one
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) cport: Option<u16>,
    #[command(flatten)]
    pub(super) family: Family,
    /// Give up connecting after so long (milliseconds)
    #[arg(long, value_name = "MS", value_parser = amount::milliseconds)]
    pub(super) connect_timeout: Option<Nanos>,
}

/// What is sent.
#[derive(Debug, Args)]
#[command(next_help_heading = "Traffic")]
pub(super) struct Traffic {
    /// Measure for so long (seconds) [default: 10]
    #[arg(short, long, alias = "for", value_name = "SECONDS", value_parser = amount::seconds)]
    pub(super) time: Option<Nanos>,
    /// Send so many bytes instead, all connections together
    #[arg(short = 'n', long, value_name = "SIZE", value_parser = amount::size, conflicts_with = "time")]
    pub(super) bytes: Option<Bytes>,
    /// Send so many writes or datagrams instead
    #[arg(short = 'k', long, value_name = "COUNT", value_parser = amount::count, conflicts_with_all = ["time", "bytes"])]
    pub(super) blockcount: Option<u64>,
    /// Each connection's rate in bits a second, 0 for no limit; RATE/N sends N at a time
    /// [default: no limit, 1M of UDP]
    #[arg(short, long, alias = "bandwidth", value_name = "RATE[/N]", value_parser = pace)]
    pub(super) bitrate: Option<Pace>,
    /// The size of each write, or of a datagram [default: 128K; of UDP what the path's MTU carries]
    #[arg(short, long, value_name = "SIZE", value_parser = amount::size)]
    pub(super) length: Option<Bytes>,
    /// Connections in parallel
    #[arg(short = 'P', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=128))]
    pub(super) parallel: u32,
    /// The server sends
    #[arg(short = 'R', long)]
    pub(super) reverse: bool,
    /// Both send at once, over connections of their own
    #[arg(long, alias = "bidirectional", conflicts_with = "reverse")]
    pub(super) bidir: bool,
    /// UDP instead of TCP
    #[arg(short, long)]
    pub(super) udp: bool,
    /// Count datagrams in 64 bits
    #[arg(long, requires = "udp")]
    pub(super) udp_counters_64bit: bool,
    /// Leave the first seconds out of the result
    #[arg(short = 'O', long, value_name = "SECONDS", value_parser = amount::seconds, conflicts_with_all = ["bytes", "blockcount"])]
    pub(super) omit: Option<Nanos>,
    /// Send without copying: --mode limit by iperf3's name
    #[arg(short = 'Z', long)]
    pub(super) zerocopy: bool,
    /// How bytes are moved: as an application does, or as cheaply as the kernel can [default: app]
    #[arg(long, value_parser = one_of(MODES))]
    pub(super) mode: Option<Mode>,
    /// Where threads run: same (both ends on one CPU), cross (each on its own), or lists: CLIENT[/SERVER]
    #[arg(long, value_name = "CPUS", value_parser = pin::placement, conflicts_with = "affinity")]
    pub(super) pin: Option<Placement>,
    /// The client's CPU, and the server's
    #[arg(short = 'A', long, value_name = "N[,M]", value_parser = pin::affinity)]
    pub(super) affinity: Option<Placement>,
}

/// What is set on every socket.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sockets")]
pub(super) struct SocketFlags {
    /// Send and receive buffer
    #[arg(short, long, value_name = "SIZE", value_parser = amount::size)]
    pub(super) window: Option<Bytes>,
    /// Largest segment, of TCP
    #[arg(short = 'M', long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(88..=32767))]
    pub(super) set_mss: Option<u32>,
    /// Congestion control, of TCP
    #[arg(short = 'C', long, alias = "linux-congestion", value_name = "NAME")]
    pub(super) congestion: Option<String>,
    /// Send small writes at once, of TCP
    #[arg(short = 'N', long)]
    pub(super) no_delay: bool,
    /// Type of service, a whole byte: 0 to 255
    #[arg(short = 'S', long, value_name = "BYTE", value_parser = dscp::type_of_service, conflicts_with = "dscp")]
    pub(super) tos: Option<u8>,
    /// Code point: 0 to 63, or a name as ef
    #[arg(long, value_name = "POINT", value_parser = dscp::code_point)]
    pub(super) dscp: Option<u8>,
    /// Poll the device's queue for so long before sleeping (microseconds with no unit)
    #[arg(long, value_name = "TIME", value_parser = amount::microseconds, num_args = 0..=1, default_missing_value = "50", require_equals = true)]
    pub(super) busy_poll: Option<Nanos>,
}

/// Who the client says it is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Authentication (the password is taken from IPERF3_PASSWORD, or asked for)")]
pub(super) struct Login {
    /// Log in as this user
    #[arg(long, value_name = "NAME", requires = "rsa_public_key_path")]
    pub(super) username: Option<String>,
    /// The server's public key (PEM)
    #[arg(long, value_name = "FILE", requires = "username")]
    pub(super) rsa_public_key_path: Option<PathBuf>,
    /// Encrypt as servers before iperf3 3.17 do at once; else only when the newer way is refused
    #[arg(long, requires = "username")]
    pub(super) use_pkcs1_padding: bool,
}

/// What is printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Output {
    /// Print a line so often (seconds); 0 for none
    #[arg(short, long, value_name = "SECONDS", value_parser = amount::seconds, default_value = "1")]
    pub(super) interval: Nanos,
    /// Put this before every line
    #[arg(short = 'T', long, value_name = "TEXT")]
    pub(super) title: Option<String>,
    /// Put this into the JSON of both ends
    #[arg(long, value_name = "TEXT")]
    pub(super) extra_data: Option<String>,
    /// Print what the server printed as well
    #[arg(long)]
    pub(super) get_server_output: bool,
    /// Print one JSON document with iperf3's fields
    #[arg(short = 'J', long)]
    pub(super) json: bool,
}

/// How bytes are moved.
const MODES: &[Word<Mode>] = &[
    ("app", Mode::App, "Ordinary writes and copying reads: the number that an application gets"),
    ("limit", Mode::Limit, "No copy at either end, many datagrams a call: what the path could carry"),
];

/// `-b`: a rate, and how many are sent at a time.
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
            format!(
                "`{number}` is no burst: write how many datagrams or writes go at once, 1 to 1000, as 100M/10"
            )
        })?),
    };
    Ok(Pace { rate: amount::rate(rate)?, burst })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_may_say_how_many_go_at_once() {
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
