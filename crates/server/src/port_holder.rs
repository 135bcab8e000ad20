//! A helper process that opens one UDP socket on the server's port for each UDP client.
//!
//! Sockets of different users cannot share a UDP port (SO_REUSEPORT), and other programs of an unprivileged
//! user could bind that user's port too. So the helper keeps running as root, but without capabilities and
//! file access.

use std::{
    net::{IpAddr, SocketAddr, UdpSocket},
    os::{fd::OwnedFd, unix::net::UnixStream},
};

use sys::{
    confine::{self, Call, calls},
    forked_process,
};
use traffic::{Error, Result};

use super::sockets;

const LONGEST: usize = 64;
const DENIED: &str = "plumb server: its UDP port holder exited because of a system call not in its filter \
                      (please report this): number ";

#[derive(Debug)]
pub(super) struct PortHolder(UnixStream);

impl PortHolder {
    pub(super) fn start(addresses: &[SocketAddr]) -> Result<Self> {
        let low = addresses.iter().any(|address| address.port() < 1024);
        Ok(Self(forked_process::start(|server| {
            // Otherwise, the helper exits and the server reports it.
            if confine(low).is_ok() {
                serve(&server, addresses);
            }
        })?))
    }

    pub(super) const fn connection(&self) -> &UnixStream {
        &self.0
    }

    pub(super) fn udp(&self, address: SocketAddr) -> Result<UdpSocket> {
        let mut errno = [0; 4];
        forked_process::send(&self.0, address.to_string().as_bytes(), None)?;
        let (length, socket) = forked_process::receive(&self.0, &mut errno)?;
        let named = || format!("{address} for UDP");
        let failed = |errno| Error::socket("bind", named)(std::io::Error::from_raw_os_error(errno));
        match socket {
            Some(socket) => Ok(UdpSocket::from(socket)),
            None if length == errno.len() => Err(failed(i32::from_ne_bytes(errno))),
            None => Err(ended()),
        }
    }
}

/// Restarting the helper would require root.
pub(super) fn ended() -> Error {
    Error::HelperEnded("the UDP port holder")
}

fn confine(low_ports: bool) -> sys::Result<()> {
    confine::drop_bounds();
    confine::keep_capabilities(low_ports)?;
    confine::restrict_files(&[])?;
    confine::filter_calls(CALLS, DENIED)
}

fn serve(server: &UnixStream, addresses: &[SocketAddr]) {
    let mut bytes = [0; LONGEST];
    while let Ok((length @ 1.., _)) = forked_process::receive(server, &mut bytes) {
        const EINVAL: i32 = 22;
        let requested = std::str::from_utf8(&bytes[..length]).ok().and_then(|text| text.parse().ok());
        let requested =
            requested.filter(|requested| addresses.iter().any(|address| is_within(*requested, *address)));
        let opened = requested.ok_or(EINVAL).and_then(|address| {
            sockets::udp(address).map(OwnedFd::from).map_err(|error| match error {
                Error::Socket { source, .. } => source.raw_os_error().unwrap_or(EINVAL),
                Error::System(error) => error.errno(),
                _ => EINVAL,
            })
        });
        let sent = match opened {
            Ok(socket) => forked_process::send(server, &[0; 4], Some(&socket)),
            Err(errno) => forked_process::send(server, &errno.to_ne_bytes(), None),
        };
        if sent.is_err() {
            return;
        }
    }
}

fn is_within(requested: SocketAddr, listener: SocketAddr) -> bool {
    let any = |address: IpAddr| address.is_unspecified();
    let same_family = requested.is_ipv4() == listener.is_ipv4();
    requested.port() == listener.port()
        && same_family
        && (requested.ip() == listener.ip() || any(listener.ip()))
}

pub(super) const CALLS: &[&[Call]] =
    &[calls::DESCRIPTORS, calls::SOCKETS, calls::MEMORY, calls::SIGNALS, calls::RARE];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_only_addresses_of_the_server() {
        let address = |text: &str| text.parse().expect("an address");
        for (requested, listener, within) in [
            ("127.0.0.1:5201", "0.0.0.0:5201", true),
            ("127.0.0.1:5201", "127.0.0.1:5201", true),
            ("127.0.0.2:5201", "127.0.0.1:5201", false),
            ("127.0.0.1:53", "0.0.0.0:5201", false),
            ("[::1]:5201", "0.0.0.0:5201", false),
            ("[::1]:5201", "[::]:5201", true),
        ] {
            assert_eq!(is_within(address(requested), address(listener)), within, "{requested} {listener}");
        }
    }
}
