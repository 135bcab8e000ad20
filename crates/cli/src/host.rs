//! Hosts as they are typed, made into addresses: names, IPv4, IPv6 with or without brackets.

use std::{
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    sync::mpsc::sync_channel,
    thread,
    time::Duration,
};

use anyhow::{Context, anyhow, bail};
use clap::Args;

use crate::{failure::Misuse, output};

/// Whoever waits longer for an address is told so,
const SOON: Duration = Duration::from_secs(1);
/// and waits so much longer at most.
const PATIENCE: Duration = Duration::from_secs(9);

/// Which addresses may be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub(crate) struct Family {
    /// Only IPv4
    #[arg(short = '4', long = "version4", conflicts_with = "v6")]
    v4: bool,
    /// Only IPv6
    #[arg(short = '6', long = "version6")]
    v6: bool,
}

impl Family {
    /// Only what goes with this address.
    pub(crate) fn of(address: IpAddr) -> Self {
        Self { v4: address.is_ipv4(), v6: address.is_ipv6() }
    }

    fn has(self, address: &SocketAddr) -> bool {
        !(self.v4 && address.is_ipv6() || self.v6 && address.is_ipv4())
    }

    fn name(self) -> &'static str {
        match (self.v4, self.v6) {
            (true, _) => "IPv4 ",
            (_, true) => "IPv6 ",
            _ => "",
        }
    }
}

/// The first address of a host that is of the family, and goes with the address that is connected from.
pub(crate) fn resolve(
    host: &str,
    port: u16,
    family: Family,
    from: Option<IpAddr>,
) -> anyhow::Result<SocketAddr> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    if bare.is_empty() {
        return Err(Misuse::new("the host's name is empty").hint("name a host, or give its address").into());
    }
    if let Some((name, port)) = with_port(host) {
        return Err(Misuse::new(format!("{host} names a port, which has a flag of its own"))
            .hint(format!("{name} --port {port}"))
            .into());
    }
    let found = look_up(bare, port).with_context(|| format!("cannot find host {host}"))?;
    let source = from.map(Family::of).unwrap_or_default();
    let fits = |address: &SocketAddr| family.has(address) && source.has(address);
    found.into_iter().find(fits).ok_or_else(|| {
        let (kind, beside) =
            if from.is_some() { (source.name(), " to go with --bind") } else { (family.name(), "") };
        anyhow!("host {host} has no {kind}address{beside}")
    })
}

/// A host with a port behind it, as other tools take it: `198.18.0.2:5201`, `[::1]:5201`.
fn with_port(host: &str) -> Option<(&str, u16)> {
    let (name, port) = host.rsplit_once(':')?;
    // A bare address of IPv6 has several colons.
    let whole = !name.contains(':') || name.ends_with(']');
    port.parse().ok().filter(|_| whole && !name.is_empty()).map(|port| (name, port))
}

/// Asks for the addresses of a name, and no longer than somebody waits; whoever waits is told what for.
fn look_up(name: &str, port: u16) -> anyhow::Result<Vec<SocketAddr>> {
    if let Ok(address) = name.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let (tell, told) = sync_channel(1);
    let asked = name.to_owned();
    // It cannot be ended; it goes with the process.
    thread::spawn(move || {
        let found = (asked.as_str(), port).to_socket_addrs().map(Iterator::collect);
        // Nobody waits any more where it took too long.
        let _ = tell.send(found);
    });
    if let Ok(found) = told.recv_timeout(SOON) {
        return Ok(found?);
    }
    output::aside(format_args!("asking the name servers for {name}"));
    match told.recv_timeout(PATIENCE) {
        Ok(found) => Ok(found?),
        Err(_) => bail!("no name server answered within {} s; give its address", (SOON + PATIENCE).as_secs()),
    }
}

/// A host and port as people read them.
pub(crate) fn named(host: &str, port: u16) -> String {
    if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

/// An address of this machine, as --bind takes it.
pub(crate) fn own(text: &str) -> Result<IpAddr, String> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    if let Ok(address) = bare.parse() {
        return Ok(address);
    }
    if let Some((_, device)) = bare.split_once('%') {
        return Err(format!("plumb binds to addresses, not to devices: give an address that {device} has"));
    }
    let found = (bare, 0).to_socket_addrs().ok().and_then(|mut found| found.next());
    found
        .map(|found| found.ip())
        .ok_or_else(|| format!("`{text}` is neither an address nor a known name of this machine"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: Family = Family { v4: false, v6: false };
    const V4: Family = Family { v4: true, v6: false };
    const V6: Family = Family { v4: false, v6: true };

    #[test]
    fn addresses_are_themselves_with_or_without_brackets() {
        for (host, family, expected) in [
            ("198.18.0.2", ANY, "198.18.0.2:5201"),
            ("198.18.0.2", V4, "198.18.0.2:5201"),
            ("::1", ANY, "[::1]:5201"),
            ("[::1]", V6, "[::1]:5201"),
        ] {
            let found = resolve(host, 5201, family, None).expect(host);
            assert_eq!(found.to_string(), expected);
        }
    }

    #[test]
    fn a_host_without_an_address_of_the_family_is_named() {
        for (host, family, from, word) in [
            ("198.18.0.2", V6, None, "IPv6"),
            ("::1", V4, None, "IPv4"),
            ("::1", ANY, Some("198.18.0.1"), "--bind"),
        ] {
            let from = from.map(|from: &str| from.parse().expect("an address"));
            let error = resolve(host, 5201, family, from).expect_err(host).to_string();
            assert!(error.contains(host) && error.contains(word), "{error}");
        }
    }

    #[test]
    fn a_port_behind_the_host_is_answered_with_its_flag() {
        for (host, flag) in [
            ("127.0.0.1:5201", "127.0.0.1 --port 5201"),
            ("[::1]:7000", "[::1] --port 7000"),
            ("a:1", "a --port 1"),
        ] {
            let error = resolve(host, 5201, ANY, None).expect_err(host);
            assert!(error.is::<Misuse>(), "{error}");
            let (name, port) = with_port(host).expect("a port");
            assert_eq!(format!("{name} --port {port}"), flag);
        }
        for host in ["::1", "[::1]", "fe80::1:2", "name", "name:http"] {
            assert_eq!(with_port(host), None, "{host}");
        }
    }

    #[test]
    fn a_device_to_bind_to_is_refused_with_what_to_give_instead() {
        assert_eq!(own("198.18.0.1"), Ok("198.18.0.1".parse().expect("an address")));
        assert!(own("198.18.0.1%eth0").is_err_and(|said| said.contains("eth0")));
    }
}
