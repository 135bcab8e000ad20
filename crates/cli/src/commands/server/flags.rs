//! The flags of `plumb server`, as written.

use std::{net::IpAddr, path::PathBuf};

use clap::Args;
use units::{BitRate, Bytes, Nanos};

use crate::{amount, commands::client::PORT, host};

/// Flags of `plumb server`.
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
    pub(super) course: Course,
}

const AFTER_HELP: &str = "\
Serves plumb client and plumb ping, stock iperf3 clients, and stock sockperf clients, over TCP and UDP on one \
port. Who is none of these is closed after a few bytes or seconds, and gets nothing.

Exit status: 0 ended after Ctrl-C, or served the one client of --once; 1 could not listen, or that client's \
test failed; 64 usage error.";

/// Where and for whom it serves.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub(super) struct Listen {
    /// The port, TCP and UDP
    #[arg(short, long, default_value_t = PORT, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) port: u16,
    /// Listen on this address only (may be repeated) [default: all]
    #[arg(short = 'B', long, value_name = "ADDRESS", value_parser = host::own)]
    pub(super) bind: Vec<IpAddr>,
    /// Serve clients of this prefix only, as 198.18.0.0/15 (may be repeated) [default: all]
    #[arg(long, value_name = "PREFIX", value_parser = prefix)]
    pub(super) allow: Vec<(IpAddr, u8)>,
}

/// How it goes on.
#[derive(Debug, Args)]
#[command(next_help_heading = "Course and output")]
pub(super) struct Course {
    /// Serve one client, then end; fails if that one does (sockperf over UDP does not count)
    #[arg(short = '1', long, visible_alias = "one-off")]
    pub(super) once: bool,
    /// Print a JSON document for each client, a line each; iperf3's clients have iperf3's fields
    #[arg(short = 'J', long)]
    pub(super) json: bool,
}

/// What a client may use at most.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct Limits {
    /// Clients at once; further ones are told that the server is busy
    #[arg(long, value_name = "N", default_value = "16", value_parser = clients)]
    pub(super) max_clients: usize,
    /// Clients of one address at once (of IPv6: of one /64) [default: a quarter of --max-clients, 4 at least]
    #[arg(long, value_name = "N", value_parser = clients)]
    pub(super) max_clients_per_address: Option<usize>,
    /// One iperf3 test after another instead of at once: further clients wait
    #[arg(long)]
    pub(super) queue: bool,
    /// Rate of one client, all its connections together: a test that asks for more is refused, one that takes more
    /// is ended; nothing is slowed down (clients pace themselves with -b)
    #[arg(long, alias = "server-bitrate-limit", value_name = "RATE", value_parser = bounded_rate)]
    pub(super) max_rate: Option<BitRate>,
    /// How long one test or ping may take (seconds): one that asks for more is refused, one without an end is ended
    #[arg(long, value_name = "SECONDS", value_parser = amount::seconds, default_value = "3600")]
    pub(super) max_duration: Nanos,
    /// How much one test or ping may carry: one that asks for more is refused, one that carries more is ended
    #[arg(long, value_name = "SIZE", value_parser = amount::size)]
    pub(super) max_bytes: Option<Bytes>,
    /// Give up a client that is silent for so long (seconds) [default: 30]: nothing moves, or, of one that is sent a
    /// stream, its machine gives no sign of life for this time (at least 2, at most 10); with --once, end as well if
    /// none comes in that time [default: never]
    #[arg(long, value_name = "SECONDS", value_parser = amount::seconds)]
    pub(super) idle_timeout: Option<Nanos>,
}

/// Who may use it: users with passwords, as iperf3 has them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Authentication of iperf3's clients")]
pub(super) struct Login {
    /// The private key that passwords are sent under (PEM); then only plumb client and iperf3 are served, since
    /// plumb ping and sockperf cannot log in
    #[arg(long, value_name = "FILE", requires = "authorized_users_path")]
    pub(super) rsa_private_key_path: Option<PathBuf>,
    /// Users and the hashes of their passwords: lines `name,sha256("{name}password")`
    #[arg(long, value_name = "FILE", requires = "rsa_private_key_path")]
    pub(super) authorized_users_path: Option<PathBuf>,
    /// How far a client's clock may be off (seconds)
    #[arg(long, value_name = "SECONDS", value_parser = amount::seconds, default_value = "10", requires = "rsa_private_key_path")]
    pub(super) time_skew_threshold: Nanos,
}

/// What it may do once it listens: as little as serving takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Rights")]
pub(super) struct Rights {
    /// Become this user (a name of /etc/passwd, or a number) once it listens [default: nobody, if started as root]
    #[arg(long, value_name = "USER", conflicts_with = "unconfined")]
    pub(super) user: Option<String>,
    /// Keep the rights of whoever starts it, and all files and system calls
    #[arg(long)]
    pub(super) unconfined: bool,
}

/// `198.18.0.0/15`, or one address.
fn prefix(text: &str) -> Result<(IpAddr, u8), String> {
    let (address, length) = text.split_once('/').unwrap_or((text, ""));
    let address: IpAddr = address.parse().map_err(|_| format!("`{address}` is no address"))?;
    let whole = if address.is_ipv4() { 32 } else { 128 };
    let length = if text.contains('/') { length.parse().ok() } else { Some(whole) };
    length
        .filter(|length| *length <= whole)
        .map(|length| (address, length))
        .ok_or_else(|| format!("the length after {address}/ is 0 to {whole}, as in 198.18.0.0/15"))
}

fn clients(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=1024).contains(number));
    number.ok_or_else(|| "write how many, 1 to 1024".to_owned())
}

fn bounded_rate(text: &str) -> Result<BitRate, String> {
    amount::rate(text)?
        .ok_or_else(|| "a limit of nought would serve nobody: leave the flag out for none".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_an_address_with_a_length_or_one_address() {
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
