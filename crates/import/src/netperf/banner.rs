//! Identifies a test by its command line or the first line of netperf's output.

use workload::{Direction, Quantity, Transport};

use super::value_names::canonical;
use crate::{
    shell,
    unit::{Unit, unit},
};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Banner {
    pub(super) kind: Kind,
    pub(super) transport: Option<Transport>,
    pub(super) unit: Option<Unit>,
    /// Whether results have no headings (`-P 0`).
    pub(super) bare: bool,
    pub(super) burst: u32,
    pub(super) host: Option<String>,
    pub(super) selectors: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One end sends continuously.
    Stream(Direction),
    /// One end sends datagrams. Some may be lost.
    Datagrams,
    /// Requests and responses on a single connection.
    Transactions,
    /// Requests and responses, with a new connection for each.
    Connections,
    Omni {
        transactions: bool,
    },
}

impl Kind {
    pub(super) const fn has_transactions(self) -> bool {
        matches!(self, Self::Transactions | Self::Connections | Self::Omni { transactions: true })
    }
}

/// Parses a heading: `MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 198.18.0.2 () …`.
pub(super) fn banner(text: &str) -> Option<Banner> {
    let (name, rest) = text.trim().split_once(" TEST ")?;
    if !(rest.starts_with("from ") || rest.starts_with("to ")) || name.len() > 60 {
        return None;
    }
    let burst = rest.rsplit_once("first burst ").and_then(|(_, burst)| burst.trim().parse().ok());
    let to = rest.strip_prefix("to ").or_else(|| rest.split_once(" to ").map(|(_, to)| to));
    let host = to.and_then(|to| to.split_whitespace().next());
    named(&name.trim_start_matches("MIGRATED ").to_uppercase()).map(|(kind, transport)| Banner {
        kind,
        transport,
        unit: None,
        bare: false,
        burst: burst.unwrap_or(0),
        host: host.map(str::to_owned),
        selectors: Vec::new(),
    })
}

/// Parses a command, which may be within a sentence: `$ netperf -H 198.18.0.2 -t TCP_RR -P 0`.
pub(super) fn command(text: &str) -> Option<Banner> {
    let command = shell::mentioned(text).filter(|command| command.tool == "netperf")?;
    let host = command.value("-H");
    if host.is_none() && shell::command(text).is_none() {
        return None;
    }
    let own = command.arguments.split(|word| *word == "--").nth(1).unwrap_or_default();
    let direction = shell::value(own, "-d").unwrap_or("send");
    let name = command.value("-t").unwrap_or("TCP_STREAM").to_uppercase().replace('_', " ");
    let (kind, transport) = named(&name.replace("OMNI", &format!("OMNI {direction}")))?;
    let unit = match (command.value("-f"), kind) {
        (Some(letter), _) => written(letter),
        (None, Kind::Stream(_) | Kind::Datagrams) => unit("10^6bits/s"),
        (None, Kind::Transactions | Kind::Connections) => unit("/s"),
        (None, Kind::Omni { .. }) => default_unit(shell::value(own, "-d")),
    };
    let selected = ["-k", "-o", "-O"].iter().find_map(|flag| shell::value(own, flag)).unwrap_or_default();
    let selectors = selected.split(',').filter(|name| !name.is_empty()).map(canonical).collect();
    let host = host.map(|host| host.split(',').next().unwrap_or(host).to_owned());
    Some(Banner { kind, transport, unit, bare: command.value("-P") == Some("0"), burst: 0, host, selectors })
}

fn named(name: &str) -> Option<(Kind, Option<Transport>)> {
    let transport = match name.split_whitespace().next()? {
        "TCP" => Some(Transport::Tcp),
        "UDP" => Some(Transport::Udp),
        // A request/response test has `Send|Recv` in its heading or `-d rr` in its command.
        "OMNI" => {
            let transactions = matches!(name.split_once(' '), Some((_, "SEND|RECV" | "rr" | "RR")));
            return Some((Kind::Omni { transactions }, None));
        }
        _ => return None,
    };
    let test = name.split_once(' ')?.1.trim();
    let kind = match (test, transport) {
        ("STREAM", Some(Transport::Udp)) => Kind::Datagrams,
        ("STREAM" | "SENDFILE", _) => Kind::Stream(Direction::Forward),
        ("MAERTS", _) => Kind::Stream(Direction::Reverse),
        ("REQUEST/RESPONSE" | "RR", _) => Kind::Transactions,
        ("CONNECT/REQUEST/RESPONSE" | "CRR", _) => Kind::Connections,
        _ => return None,
    };
    Some((kind, transport))
}

/// Returns the unit for the letter of `-f` (netperf(1)). Capital letters mean bytes with binary prefixes, and `x` means
/// transactions.
fn written(letter: &str) -> Option<Unit> {
    let word = match letter {
        "G" => "GBytes/s",
        "M" => "MBytes/s",
        "K" => "KBytes/s",
        "g" => "10^9bits/s",
        "m" => "10^6bits/s",
        "k" => "10^3bits/s",
        "x" => "/s",
        _ => return None,
    };
    unit(word)
}

/// Returns the unit of an omni test's throughput, given its `-d`, unless `-f` sets one.
fn default_unit(direction: Option<&str>) -> Option<Unit> {
    match direction.map(str::to_lowercase).as_deref() {
        None | Some("send" | "stream" | "recv" | "maerts") => unit("10^6bits/s"),
        Some("rr") => unit("/s"),
        Some(_) => None,
    }
}

/// Returns the throughput's unit in the headings: `bytes  bytes   bytes    secs.    10^6bits/sec`.
pub(super) fn unit_in(text: &str) -> Option<Unit> {
    let is_rate = |unit: &Unit| unit.quantity == Quantity::BitRate;
    text.split_whitespace().find_map(|word| unit(word).filter(is_rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifies_test_by_heading_or_command() {
        let (tcp, udp) = (Some(Transport::Tcp), Some(Transport::Udp));
        for (text, kind, transport) in [
            ("TCP STREAM TEST to 10.0.0.1", Kind::Stream(Direction::Forward), tcp),
            (
                "MIGRATED TCP MAERTS TEST from a () port 0 AF_INET to b ()",
                Kind::Stream(Direction::Reverse),
                tcp,
            ),
            ("MIGRATED UDP STREAM TEST from a () port 0 to b ()", Kind::Datagrams, udp),
            ("MIGRATED TCP Connect/Request/Response TEST from a to b", Kind::Connections, tcp),
            ("$ netperf -H b -tUDP_RR -P 0", Kind::Transactions, udp),
            ("root@a:~# /usr/bin/netperf -H b -l 1 -- -m 64", Kind::Stream(Direction::Forward), tcp),
        ] {
            let read = banner(text).or_else(|| command(text)).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((read.kind, read.transport), (kind, transport), "{text}");
        }
        for text in [
            "SCTP STREAM TEST from a to b",
            "apt install netperf",
            "UNIT TEST from here",
            "we ran netperf -t TCP_RR",
        ] {
            assert_eq!(banner(text).or_else(|| command(text)), None, "{text}");
        }
    }

    #[test]
    fn names_the_server_and_the_selected_values() {
        for text in [
            "$ kubectl exec a -- netperf -H b -t TCP_RR -- -O min_latency,THROUGHPUT",
            "The command was ./netperf -t TCP_RR -H b -- -k min_latency,throughput, and so on",
        ] {
            let read = command(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(read.host.as_deref(), Some("b"), "{text}");
            assert_eq!(read.selectors, ["MIN_LATENCY", "THROUGHPUT"], "{text}");
        }
        let text =
            "MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 198.18.0.2 () port 0 AF_INET";
        assert_eq!(banner(text).and_then(|banner| banner.host).as_deref(), Some("198.18.0.2"));
    }

    #[test]
    fn command_sets_unit_of_bare_rows() {
        let rate = |text: &str| command(text).and_then(|banner| banner.unit).map(|unit| unit.factor);
        assert_eq!(rate("netperf -H b"), Some(1e6));
        assert_eq!(rate("netperf -H b -f M"), Some(8.0 * 1_048_576.0));
        assert_eq!(rate("netperf -H b -f y"), None);
        let quantity = |text: &str| command(text).and_then(|banner| banner.unit).map(|unit| unit.quantity);
        for text in ["netperf -H b -t TCP_RR", "netperf -H b -t omni -- -d rr", "netperf -H b -f x"] {
            assert_eq!(quantity(text), Some(Quantity::PerSecond), "{text}");
        }
        for text in ["netperf -H b -t TCP_RR -f m", "netperf -H b -t omni", "netperf -H b -t omni -- -d send"]
        {
            assert_eq!(quantity(text), Some(Quantity::BitRate), "{text}");
        }
        assert_eq!(quantity("netperf -H b -t omni -- -d 6"), None);
    }
}
