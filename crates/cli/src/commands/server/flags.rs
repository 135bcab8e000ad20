//! The flags of `plumb server`.

use std::{net::IpAddr, path::PathBuf};

use clap::Args;
use units::{BitRate, Bytes, Nanos};

use crate::{
    amount,
    commands::{
        client::PORT,
        iperf3_flags::{Ignored, LogFile},
    },
    host,
};

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ServerArgs {
    #[command(flatten)]
    pub(super) listen: Listen,
    #[command(flatten)]
    pub(super) limits: Limits,
    #[command(flatten)]
    pub(super) login: Login,
    #[command(flatten)]
    pub(super) rights: Rights,
    #[command(flatten)]
    pub(super) operation: Operation,
    #[command(flatten)]
    pub(super) log_file: LogFile,
    #[command(flatten)]
    pub(super) ignored: Ignored,
    /// Accepted because iperf3 starts a server with this flag
    #[arg(short, long, hide = true)]
    server: bool,
}

const AFTER_HELP: &str = "Serves plumb client and plumb ping, stock iperf3 clients and stock sockperf \
    clients, over TCP and UDP on one port. Other connections are closed without an answer after a few \
    bytes or seconds.

Exit status: 0 interrupted by Ctrl-C, or the --once client succeeded; 1 cannot listen, or the --once \
    client failed; 64 usage error.";

#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub(super) struct Listen {
    /// TCP and UDP port
    #[arg(short, long, default_value_t = PORT, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) port: u16,
    /// Listen only on this address (may be repeated) [default: all]
    #[arg(short = 'B', long, value_name = "ADDRESS", value_parser = host::own)]
    pub(super) bind: Vec<IpAddr>,
    /// Serve only clients in this prefix, e.g. 198.18.0.0/15 (may be repeated) [default: all]
    #[arg(long, value_name = "PREFIX", value_parser = prefix)]
    pub(super) allow: Vec<(IpAddr, u8)>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Operation and output")]
pub(super) struct Operation {
    /// Serve one client, then exit, with a non-zero status if the test failed. sockperf clients over UDP do not count
    #[arg(short = '1', long, visible_alias = "one-off")]
    pub(super) once: bool,
    /// Print a one-line JSON document per client, with iperf3's fields for iperf3 clients
    #[arg(short = 'J', long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct Limits {
    /// Maximum number of concurrent clients. Further clients are refused as busy
    #[arg(long, value_name = "N", default_value = "16", value_parser = clients)]
    pub(super) max_clients: usize,
    /// Maximum number of concurrent clients per address (IPv6: per /64) [default: a quarter of --max-clients,
    /// at least 4]
    #[arg(long, value_name = "N", value_parser = clients)]
    pub(super) max_clients_per_address: Option<usize>,
    /// Run iperf3 tests one at a time. Other clients wait
    #[arg(long)]
    pub(super) queue: bool,
    /// Maximum rate per client across all its connections. Refuses tests that request a higher rate. If a test exceeds
    /// the rate, ends it instead of slowing it down (clients can limit their rate with -b)
    #[arg(long, alias = "server-bitrate-limit", value_name = "RATE", value_parser = bounded_rate)]
    pub(super) max_rate: Option<BitRate>,
    /// Maximum duration of a test or ping in seconds. Longer requests are refused, and tests without a limit end after
    /// this time
    #[arg(long, value_name = "SECONDS", value_parser = amount::seconds, default_value = "3600")]
    pub(super) max_duration: Nanos,
    /// Maximum number of bytes in a test or ping. Larger requests are refused, and tests without a limit end after
    /// this many bytes
    #[arg(long, value_name = "SIZE", value_parser = amount::size)]
    pub(super) max_bytes: Option<Bytes>,
    /// Disconnect a client that is idle for this time (seconds) [default: 30]. If the client's host does not respond
    /// while the server sends, the timeout is at least 2 s and at most 10 s. With --once, also exit if no client
    /// connects within this time [default: never]
    #[arg(long, value_name = "SECONDS", value_parser = amount::seconds)]
    pub(super) idle_timeout: Option<Nanos>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Authentication of iperf3 clients")]
pub(super) struct Login {
    /// Private key for decrypting passwords (PEM). Every client must then log in, which `plumb ping` and
    /// sockperf cannot do
    #[arg(long, value_name = "FILE", requires = "authorized_users_path")]
    pub(super) rsa_private_key_path: Option<PathBuf>,
    /// Users and password hashes: lines of `name,sha256("{name}password")`
    #[arg(long, value_name = "FILE", requires = "rsa_private_key_path")]
    pub(super) authorized_users_path: Option<PathBuf>,
    /// Maximum difference between a client's clock and the server's clock in seconds
    #[arg(long, value_name = "SECONDS", value_parser = amount::seconds, default_value = "10", requires = "rsa_private_key_path")]
    pub(super) time_skew_threshold: Nanos,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Privileges")]
pub(super) struct Rights {
    /// Switch to this user (a name in /etc/passwd, or a number) after binding [default: nobody, if started
    /// as root]
    #[arg(long, value_name = "USER", conflicts_with = "unconfined")]
    pub(super) user: Option<String>,
    /// Do not drop privileges, and do not restrict access to files and system calls
    #[arg(long)]
    pub(super) unconfined: bool,
}

fn prefix(text: &str) -> Result<(IpAddr, u8), String> {
    let (address, length) = text.split_once('/').unwrap_or((text, ""));
    let address: IpAddr = address.parse().map_err(|_| format!("invalid address `{address}`"))?;
    let whole = if address.is_ipv4() { 32 } else { 128 };
    let length = if text.contains('/') { length.parse().ok() } else { Some(whole) };
    length.filter(|length| *length <= whole).map(|length| (address, length)).ok_or_else(|| {
        format!("invalid prefix length after {address}/: use 0 to {whole}, e.g. 198.18.0.0/15")
    })
}

fn clients(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=1024).contains(number));
    number.ok_or_else(|| "use 1 to 1024".to_owned())
}

fn bounded_rate(text: &str) -> Result<BitRate, String> {
    amount::rate(text)?.ok_or_else(|| "0 would refuse every client; remove the flag for no limit".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_prefix_or_single_address() {
        let read = |text: &str| prefix(text).map(|(address, length)| format!("{address}/{length}"));
        for (text, expected) in [
            ("198.18.0.0/15", "198.18.0.0/15"),
            ("198.18.0.1", "198.18.0.1/32"),
            ("2001:2::/48", "2001:2::/48"),
            ("::1", "::1/128"),
            ("0.0.0.0/0", "0.0.0.0/0"),
        ] {
            assert_eq!(read(text), Ok(expected.to_owned()), "{text}");
        }
        for text in ["", "all", "198.18.0.0/33", "198.18.0.0/", "::/129", "198.18/15"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
