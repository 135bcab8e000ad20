//! Which files a process may open, by Landlock. See landlock(7) and linux/landlock.h.
#![expect(unsafe_code, reason = "the C library has no call for it")]

use std::{
    fmt,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    path::Path,
};

use rustix::fs::{Mode, OFlags};

use crate::error::{Context, Error, Result};

const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
/// Everything that version 1 knows, and what later ones added: by version.
const FILES: [u64; 5] = [(1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1, (1 << 16) - 1];
/// Binding to and connecting by TCP, since version 4.
const TCP: u64 = 3;
/// Abstract sockets and signals of other processes, since version 6.
const OTHERS: u64 = 3;
const VERSION: u32 = 1;
const PATH_BENEATH: u32 = 1;

#[repr(C)]
#[derive(Default)]
struct Ruleset {
    files: u64,
    network: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct Beneath {
    access: u64,
    folder: i32,
}

/// What a kernel's Landlock has restricted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landlock {
    /// By this version of it.
    Version(u32),
    /// The kernel has none, or it is switched off.
    Absent,
}

impl fmt::Display for Landlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(f, "Landlock {version}"),
            Self::Absent => f.write_str("no Landlock (this kernel has none)"),
        }
    }
}

/// From now on the process opens nothing but files beneath `readable`, to read them, and neither binds nor connects a
/// socket of TCP. New privileges must be forbidden before.
///
/// # Errors
/// When the kernel has Landlock and refuses.
pub fn restrict_files(readable: &[&Path]) -> Result<Landlock> {
    // SAFETY: without attributes and with this flag it only returns a number.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0_usize, 0_usize, VERSION) };
    let Ok(version @ 1..) = u32::try_from(version) else { return Ok(Landlock::Absent) };
    let known = FILES[(version as usize).min(FILES.len()) - 1];
    let (network, scoped) = (if version >= 4 { TCP } else { 0 }, if version >= 6 { OTHERS } else { 0 });
    let rules = create(&Ruleset { files: known, network, scoped }, version)?;
    for path in readable {
        allow(&rules, path)?;
    }
    // SAFETY: the descriptor is open; no flag is given.
    let done = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0_u32) };
    if done < 0 { Err(Error::last("apply", "Landlock's rules")) } else { Ok(Landlock::Version(version)) }
}

fn create(ruleset: &Ruleset, version: u32) -> Result<OwnedFd> {
    let size: usize = match version {
        1..=3 => 8,
        4..=5 => 16,
        _ => size_of::<Ruleset>(),
    };
    // SAFETY: the kernel reads `size` bytes, which the structure has.
    let made = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, ruleset, size, 0_u32) };
    let made = i32::try_from(made).ok().filter(|made| *made >= 0);
    let made = made.ok_or_else(|| Error::last("make", "Landlock's rules"))?;
    // SAFETY: the kernel has just made it, for nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}

fn allow(rules: &OwnedFd, path: &Path) -> Result<()> {
    let named = || path.display().to_string();
    let folder =
        rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).named("open", named)?;
    let rule = Beneath { access: READ_FILE | READ_DIR, folder: folder.as_raw_fd() };
    // SAFETY: the kernel reads the structure, which outlives the call.
    let done = unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, rules.as_raw_fd(), PATH_BENEATH, &raw const rule, 0_u32)
    };
    if done < 0 { Err(Error::last("allow by Landlock", named())) } else { Ok(()) }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "files are opened to see which can be")]
mod tests {
    use std::{
        fs::File,
        io::Read,
        net::{TcpListener, TcpStream},
        os::{
            linux::net::SocketAddrExt,
            unix::net::{SocketAddr, UnixListener, UnixStream},
        },
    };

    use super::*;
    use crate::{confine, forked_process};

    #[test]
    fn files_beneath_what_was_named_can_be_read_and_no_others() {
        let mut said = forked_process::start(|parent| {
            let restricted =
                confine::forbid_new_privileges().and_then(|()| restrict_files(&[Path::new("/proc")]));
            let opened =
                [File::open("/proc/self/stat"), File::open("/etc/passwd"), File::create("/proc/self/comm")];
            let told = format!("{restricted:?} {:?}", opened.map(|file| file.is_ok()));
            forked_process::send(&parent, told.as_bytes(), None).expect("its parent listens");
        })
        .expect("there is room for a process");
        let mut text = String::new();
        said.read_to_string(&mut text).expect("it ends");
        let expected = if text.contains("Absent") { "[true, true, true]" } else { "[true, false, false]" };
        assert!(text.starts_with("Ok(") && text.ends_with(expected), "{text}");
    }

    #[test]
    fn no_socket_of_tcp_is_bound_or_connected_and_nobody_else_is_reached() {
        let tcp = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let there = tcp.local_addr().expect("bound");
        let name =
            SocketAddr::from_abstract_name(format!("plumb-landlock-{}", std::process::id())).expect("short");
        let _abstract = UnixListener::bind_addr(&name).expect("it is free");
        let mut said = forked_process::start(|parent| {
            let restricted = confine::forbid_new_privileges().and_then(|()| restrict_files(&[]));
            // SAFETY: without a signal it only asks whether one could be sent.
            let signal = unsafe { libc::kill(libc::getppid(), 0) };
            let done = [
                TcpListener::bind("127.0.0.1:0").is_ok(),
                TcpStream::connect(there).is_ok(),
                UnixStream::connect_addr(&name).is_ok(),
                signal == 0,
            ];
            let told = format!("{restricted:?} {done:?}");
            forked_process::send(&parent, told.as_bytes(), None).expect("its parent listens");
        })
        .expect("there is room for a process");
        let mut text = String::new();
        said.read_to_string(&mut text).expect("it ends");
        let version = text.split_once("Version(").and_then(|(_, rest)| rest.split_once(')')?.0.parse().ok());
        let expected = match version.unwrap_or(0) {
            0..=3 => [true; 4],
            4..=5 => [false, false, true, true],
            _ => [false; 4],
        };
        assert!(text.starts_with("Ok(") && text.ends_with(&format!("{expected:?}")), "{text}");
    }
}
