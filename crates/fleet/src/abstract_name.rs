//! Uses abstract sockets (unix(7)) as locks, which the kernel releases when the last descriptor is closed. Containers
//! do not see these names.

use std::{
    io,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram},
    },
};

/// Abstract names start with `@` (proc_pid_net(5)).
const SOCKETS: &str = "/proc/net/unix";
/// The size of sun_path (unix(7)), minus the leading null byte.
const LONGEST: usize = 107;

/// If another socket has the name, the error kind is `AddrInUse`.
pub(crate) fn bind(name: &str) -> io::Result<UnixDatagram> {
    UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name)?)
}

pub(crate) fn announce(before: &str, who: &str) -> io::Result<UnixDatagram> {
    let who = format!("{who} (process {})", std::process::id());
    let who = who.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '_' });
    bind(&format!("{before} ").chars().chain(who).take(LONGEST).collect::<String>())
}

pub(crate) fn holders(before: &str) -> Vec<String> {
    let sockets = std::fs::read_to_string(SOCKETS).unwrap_or_default();
    let before = format!(" @{before} ");
    sockets.lines().filter_map(|line| Some(line.split_once(&before)?.1.to_owned())).collect()
}
