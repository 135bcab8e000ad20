//! Abstract sockets (unix(7)) as locks. Within a network namespace each name belongs to one socket of any user, and
//! the kernel frees it when the last descriptor is closed. There is no file to remove, and containers have separate
//! names.

use std::{
    io,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram},
    },
};

/// The kernel's list of sockets. Abstract names start with `@` (proc_pid_net(5)).
const SOCKETS: &str = "/proc/net/unix";
/// Maximum length of an abstract name (sun_path of unix(7), minus the leading zero).
const LONGEST: usize = 107;

/// Binds a name. The error kind is `AddrInUse` if it is taken.
pub(crate) fn bind(name: &str) -> io::Result<UnixDatagram> {
    UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name)?)
}

/// Publishes a holder under this prefix. Only the name matters, not the socket.
pub(crate) fn tell(before: &str, who: &str) -> io::Result<UnixDatagram> {
    let who = format!("{who} (process {})", std::process::id());
    let who = who.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '_' });
    bind(&format!("{before} ").chars().chain(who).take(LONGEST).collect::<String>())
}

/// The published holders under this prefix.
pub(crate) fn holders(before: &str) -> Vec<String> {
    let sockets = std::fs::read_to_string(SOCKETS).unwrap_or_default();
    let before = format!(" @{before} ");
    sockets.lines().filter_map(|line| Some(line.split_once(&before)?.1.to_owned())).collect()
}
