//! Sockets with abstract names (unix(7)): the kernel gives each name of a network namespace to one socket, whoever its user
//! is, and takes it back when the last descriptor is closed, however the process ended. No file has to be removed, and a
//! container's names are not the machine's. Must not know what a name is for.

use std::{
    io,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram},
    },
};

/// Where the kernel lists sockets with their names, abstract ones behind an `@` (proc_pid_net(5)).
const SOCKETS: &str = "/proc/net/unix";
/// The longest abstract name (sun_path of unix(7), less the zero before it).
const LONGEST: usize = 107;

/// Takes a name; an error of kind `AddrInUse` where another has it.
pub(crate) fn bind(name: &str) -> io::Result<UnixDatagram> {
    UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name)?)
}

/// Tells others, behind this beginning of a name, who has something; nobody needs the socket but for its name.
pub(crate) fn tell(before: &str, who: &str) -> io::Result<UnixDatagram> {
    let who = format!("{who} (process {})", std::process::id());
    let who = who.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '_' });
    bind(&format!("{before} ").chars().chain(who).take(LONGEST).collect::<String>())
}

/// Who told of something behind that beginning.
pub(crate) fn told(before: &str) -> Vec<String> {
    let sockets = std::fs::read_to_string(SOCKETS).unwrap_or_default();
    let before = format!(" @{before} ");
    sockets.lines().filter_map(|line| Some(line.split_once(&before)?.1.to_owned())).collect()
}
