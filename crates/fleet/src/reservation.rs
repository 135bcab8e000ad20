//! The reservation of a network device for one measurement, on the host that has it.
//!
//! It is a datagram socket with an abstract name (unix(7)): the kernel gives each name of a network namespace to one socket,
//! whoever its user is, and takes it back when the last descriptor is closed, however the process ended. No file has to be
//! removed, and a container's `eth0` is not the machine's. What it is for is not known here.

use std::{
    io,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram},
    },
};

/// Before the name of the device.
const PREFIX: &str = "plumb/interface/";
/// Where the kernel lists sockets with their names, abstract ones behind an `@` (proc_pid_net(5)).
const SOCKETS: &str = "/proc/net/unix";
/// The longest abstract name (sun_path of unix(7), less the zero before it).
const LONGEST: usize = 107;

/// A device that is reserved. Dropping it lets go.
#[derive(Debug)]
pub struct Reservation {
    _lock: UnixDatagram,
    /// Only its name matters: it tells who has the device.
    _holder: Option<UnixDatagram>,
}

/// Another has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occupied {
    /// Who, in words.
    pub by: String,
}

impl Reservation {
    /// Reserves `device` of the network namespace of this process, in the name of `by`, which others are told.
    ///
    /// # Errors
    /// When the kernel refuses for another reason than that it is taken.
    pub fn take(device: &str, by: &str) -> io::Result<Result<Self, Occupied>> {
        let name = format!("{PREFIX}{device}");
        match bind(&name) {
            Ok(lock) => Ok(Ok(Self { _lock: lock, _holder: bind(&holder(&name, by)).ok() })),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                Ok(Err(Occupied { by: who_has(&name) }))
            }
            Err(error) => Err(error),
        }
    }
}

fn bind(name: &str) -> io::Result<UnixDatagram> {
    UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name)?)
}

/// The name of the socket that tells who has the lock of that name.
fn holder(lock: &str, by: &str) -> String {
    let by = format!("{by} (process {})", std::process::id());
    let by = by.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '_' });
    format!("{lock} ").chars().chain(by).take(LONGEST).collect()
}

fn who_has(lock: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "the kernel's list of sockets is a file")]
    let sockets = std::fs::read_to_string(SOCKETS).unwrap_or_default();
    let before = format!(" @{lock} ");
    let by = sockets.lines().find_map(|line| Some(line.split_once(&before)?.1.to_owned()));
    by.unwrap_or_else(|| "another process".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_taken_once_and_free_again_when_it_is_let_go() {
        let device = format!("test-{}", std::process::id());
        let first = Reservation::take(&device, "run one").expect("a socket").expect("nobody has it");
        let Err(Occupied { by }) = Reservation::take(&device, "two").expect("a socket") else {
            panic!("it was taken twice")
        };
        assert!(by.starts_with("run one (process ") && by.contains(&std::process::id().to_string()), "{by}");
        assert!(Reservation::take(&format!("{device}0"), "two").expect("a socket").is_ok(), "another device");
        drop(first);
        assert!(Reservation::take(&device, "two").expect("a socket").is_ok());
    }
}
