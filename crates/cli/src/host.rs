//! Resolves host names, IPv4 addresses, and IPv6 addresses with or without brackets.

use std::{
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    sync::mpsc::sync_channel,
    thread,
    time::Duration,
};

use anyhow::{Context, anyhow, bail};
use clap::Args;

use crate::{failure::Misuse, output};

const SOON: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(9);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub(crate) struct Family {
    /// Use IPv4 only
    #[arg(short = '4', long = "version4", conflicts_with = "v6")]
    v4: bool,
    /// Use IPv6 only
    #[arg(short = '6', long = "version6")]
    v6: bool,
}

impl Family {
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

pub(crate) fn resolve(
    host: &str,
    port: u16,
    family: Family,
    from: Option<IpAddr>,
) -> anyhow::Result<SocketAddr> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    if bare.is_empty() {
        return Err(Misuse::new("the host name is empty").hint("specify a host name or address").into());
    }
    if let Some((name, port)) = with_port(host) {
        return Err(Misuse::new(format!("the port in {host} must be given with --port"))
            .hint(format!("{name} --port {port}"))
            .into());
    }
    let found = look_up(bare, port).with_context(|| format!("cannot find host {host}"))?;
    let source = from.map(Family::of).unwrap_or_default();
    let fits = |address: &SocketAddr| family.has(address) && source.has(address);
    found.into_iter().find(fits).ok_or_else(|| {
        let (kind, suffix) =
            if from.is_some() { (source.name(), " to match --bind") } else { (family.name(), "") };
        anyhow!("host {host} has no {kind}address{suffix}")
    })
}

pub(crate) fn with_port(host: &str) -> Option<(&str, u16)> {
    let (name, port) = host.rsplit_once(':')?;
    // Several colons mean an IPv6 address without brackets.
    let whole = !name.contains(':') || name.ends_with(']');
    port.parse().ok().filter(|_| whole && !name.is_empty()).map(|port| (name, port))
}

fn look_up(name: &str, port: u16) -> anyhow::Result<Vec<SocketAddr>> {
    if let Ok(address) = name.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let (sender, receiver) = sync_channel(1);
    let owned_name = name.to_owned();
    // A blocked lookup cannot be cancelled, so the thread keeps running after a timeout.
    thread::spawn(move || {
        let found = (owned_name.as_str(), port).to_socket_addrs().map(Iterator::collect);
        let _ = sender.send(found);
    });
    if let Ok(found) = receiver.recv_timeout(SOON) {
        return Ok(found?);
    }
    output::aside(format_args!("waiting for the name servers to resolve {name}"));
    match receiver.recv_timeout(PATIENCE) {
        Ok(found) => Ok(found?),
        Err(_) => bail!(
            "the name servers did not answer within {} s; use the host's address",
            (SOON + PATIENCE).as_secs()
        ),
    }
}

pub(crate) fn named(host: &str, port: u16) -> String {
    if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

pub(crate) fn own(text: &str) -> Result<IpAddr, String> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    if let Ok(address) = bare.parse() {
        return Ok(address);
    }
    if let Some((_, device)) = bare.split_once('%') {
        return Err(format!("plumb binds to addresses, not devices: use an address of {device}"));
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
    fn resolves_addresses_with_and_without_brackets() {
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
    fn reports_host_without_address_of_family() {
        for (host, family, from, word) in [
            ("198.18.0.2", V6, None, "IPv6"),
            ("::1", V4, None, "IPv4"),
            ("::1", ANY, Some("198.18.0.1"), "--bind"),
        ] {
            let from = from.map(|from: &str| from.parse().expect("valid address"));
            let error = resolve(host, 5201, family, from).expect_err(host).to_string();
            assert!(error.contains(host) && error.contains(word), "{error}");
        }
    }

    #[test]
    fn suggests_port_flag_for_port_in_host() {
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
    fn refuses_device_to_bind_to_with_hint() {
        assert_eq!(own("198.18.0.1"), Ok("198.18.0.1".parse().expect("valid address")));
        assert!(own("198.18.0.1%eth0").is_err_and(|error| error.contains("eth0")));
    }
}
