//! A process that opens the server's UDP ports for it: a socket for each client whose datagrams have one of their own.
//!
//! Sockets share a UDP port with those of one user only (SO_REUSEPORT), so they have to be root's as long as nobody else
//! may have the port; and the server has become somebody else, whom other programs may run as, too. This process stays
//! user 0 without capabilities, opens no file, and answers one question: a socket on one of the server's addresses.

use std::{
    net::{IpAddr, SocketAddr, UdpSocket},
    os::{fd::OwnedFd, unix::net::UnixStream},
};

use sys::{
    confine::{self, Call, calls},
    forked_process,
};
use traffic::{Error, Result};

use super::listeners;

/// No address takes more as text.
const LONGEST: usize = 64;
const DENIED: &str = "plumb server: the process that opens its UDP ports made a system call that is not in its filter, \
                      and has ended: number ";

/// The server's end of it.
#[derive(Debug)]
pub(super) struct PortHolder(UnixStream);

impl PortHolder {
    /// Starts it, for sockets on these addresses. This process must have a single thread.
    pub(super) fn start(addresses: &[SocketAddr]) -> Result<Self> {
        let low = addresses.iter().any(|address| address.port() < 1024);
        Ok(Self(forked_process::start(|server| {
            // What it cannot give up it must not have: then it ends, and the server says that it has no ports.
            if confine(low).is_ok() {
                serve(&server, addresses);
            }
        })?))
    }

    /// The connection to the process: it is ready once the process has ended.
    pub(super) const fn connection(&self) -> &UnixStream {
        &self.0
    }

    /// A UDP socket on this address, which shares the port with the server's others.
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

/// Only root could start another one, and the server has given that up.
pub(super) fn ended() -> Error {
    Error::HelperEnded("the process that opens UDP ports")
}

fn confine(low_ports: bool) -> sys::Result<()> {
    confine::drop_bounds();
    confine::keep_capabilities(low_ports)?;
    confine::forbid_new_privileges()?;
    confine::restrict_files(&[])?;
    confine::filter_calls(CALLS, DENIED)
}

fn serve(server: &UnixStream, addresses: &[SocketAddr]) {
    let mut bytes = [0; LONGEST];
    while let Ok((length @ 1.., _)) = forked_process::receive(server, &mut bytes) {
        const EINVAL: i32 = 22;
        let asked = std::str::from_utf8(&bytes[..length]).ok().and_then(|text| text.parse().ok());
        let asked = asked.filter(|asked| addresses.iter().any(|address| is_within(*asked, *address)));
        let opened = asked.ok_or(EINVAL).and_then(|address| {
            listeners::udp(address).map(OwnedFd::from).map_err(|error| match error {
                Error::Socket { source, .. } => source.raw_os_error().unwrap_or(EINVAL),
                Error::System(error) => error.errno(),
                _ => EINVAL,
            })
        });
        let said = match opened {
            Ok(socket) => forked_process::send(server, &[0; 4], Some(&socket)),
            Err(errno) => forked_process::send(server, &errno.to_ne_bytes(), None),
        };
        if said.is_err() {
            return;
        }
    }
}

/// Whether a socket on `asked` is one on the address of a listener.
fn is_within(asked: SocketAddr, listener: SocketAddr) -> bool {
    let any = |address: IpAddr| address.is_unspecified();
    let same_family = asked.is_ipv4() == listener.is_ipv4();
    asked.port() == listener.port() && same_family && (asked.ip() == listener.ip() || any(listener.ip()))
}

/// What it needs: one question and one socket at a time.
pub(super) const CALLS: &[&[Call]] =
    &[calls::DESCRIPTORS, calls::SOCKETS, calls::MEMORY, calls::SIGNALS, calls::RARE];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_server_s_own_addresses_are_opened() {
        let address = |text: &str| text.parse().expect("an address");
        for (asked, listener, within) in [
            ("127.0.0.1:5201", "0.0.0.0:5201", true),
            ("127.0.0.1:5201", "127.0.0.1:5201", true),
            ("127.0.0.2:5201", "127.0.0.1:5201", false),
            ("127.0.0.1:53", "0.0.0.0:5201", false),
            ("[::1]:5201", "0.0.0.0:5201", false),
            ("[::1]:5201", "[::]:5201", true),
        ] {
            assert_eq!(is_within(address(asked), address(listener)), within, "{asked} {listener}");
        }
    }
}
