//! Restricts file access with Landlock. See landlock(7) and linux/landlock.h.
#![expect(unsafe_code, reason = "the C library has no wrapper")]

use std::{
    fmt,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    path::Path,
};

use rustix::fs::{Mode, OFlags};

use crate::error::{Context, Error, Result};

const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const FILES: [u64; 5] = [(1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1, (1 << 16) - 1];
/// Bind and connect, since version 4.
const TCP: u64 = 3;
/// Abstract sockets and signals to other processes, since version 6.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landlock {
    Version(u32),
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

/// Reading below `readable` only, and no binding or connecting of TCP sockets. Requires `no_new_privs`.
pub fn restrict_files(readable: &[&Path]) -> Result<Landlock> {
    // SAFETY: without attributes and with this flag, the call only returns a version.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0_usize, 0_usize, VERSION) };
    let Ok(version @ 1..) = u32::try_from(version) else { return Ok(Landlock::Absent) };
    let known = FILES[(version as usize).min(FILES.len()) - 1];
    let (network, scoped) = (if version >= 4 { TCP } else { 0 }, if version >= 6 { OTHERS } else { 0 });
    let rules = create(&Ruleset { files: known, network, scoped }, version)?;
    for path in readable {
        allow(&rules, path)?;
    }
    // SAFETY: the descriptor is open, and there are no flags.
    let done = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0_u32) };
    if done < 0 { Err(Error::last("apply", "Landlock's rules")) } else { Ok(Landlock::Version(version)) }
}

fn create(ruleset: &Ruleset, version: u32) -> Result<OwnedFd> {
    let size: usize = match version {
        1..=3 => 8,
        4..=5 => 16,
        _ => size_of::<Ruleset>(),
    };
    // SAFETY: the kernel reads `size` bytes of the structure.
    let created = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, ruleset, size, 0_u32) };
    let created = i32::try_from(created).ok().filter(|fd| *fd >= 0);
    let created = created.ok_or_else(|| Error::last("make", "Landlock's rules"))?;
    // SAFETY: the kernel has just created this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(created) })
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
#[expect(clippy::disallowed_methods, reason = "tests open files")]
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
    fn allows_reading_only_below_the_given_paths() {
        let mut output = forked_process::start(|parent| {
            let restricted =
                confine::forbid_new_privileges().and_then(|()| restrict_files(&[Path::new("/proc")]));
            let opened =
                [File::open("/proc/self/stat"), File::open("/etc/passwd"), File::create("/proc/self/comm")];
            let report = format!("{restricted:?} {:?}", opened.map(|file| file.is_ok()));
            forked_process::send(&parent, report.as_bytes(), None).expect("the parent receives");
        })
        .expect("forks");
        let mut text = String::new();
        output.read_to_string(&mut text).expect("the child exits");
        let expected = if text.contains("Absent") { "[true, true, true]" } else { "[true, false, false]" };
        assert!(text.starts_with("Ok(") && text.ends_with(expected), "{text}");
    }

    #[test]
    fn forbids_tcp_abstract_sockets_and_signals() {
        let tcp = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let there = tcp.local_addr().expect("bound");
        let name =
            SocketAddr::from_abstract_name(format!("plumb-landlock-{}", std::process::id())).expect("short");
        let _abstract = UnixListener::bind_addr(&name).expect("unused");
        let mut output = forked_process::start(|parent| {
            let restricted = confine::forbid_new_privileges().and_then(|()| restrict_files(&[]));
            // SAFETY: signal 0 only checks whether a signal could be sent.
            let signal = unsafe { libc::kill(libc::getppid(), 0) };
            let done = [
                TcpListener::bind("127.0.0.1:0").is_ok(),
                TcpStream::connect(there).is_ok(),
                UnixStream::connect_addr(&name).is_ok(),
                signal == 0,
            ];
            let report = format!("{restricted:?} {done:?}");
            forked_process::send(&parent, report.as_bytes(), None).expect("the parent receives");
        })
        .expect("forks");
        let mut text = String::new();
        output.read_to_string(&mut text).expect("the child exits");
        let version = text.split_once("Version(").and_then(|(_, rest)| rest.split_once(')')?.0.parse().ok());
        let expected = match version.unwrap_or(0) {
            0..=3 => [true; 4],
            4..=5 => [false, false, true, true],
            _ => [false; 4],
        };
        assert!(text.starts_with("Ok(") && text.ends_with(&format!("{expected:?}")), "{text}");
    }
}
