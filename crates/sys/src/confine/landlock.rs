//! Restricts file access, TCP and signals with Landlock.

use std::{fmt, path::Path};

use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, RestrictionStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};

use crate::error::{Error, Result};

/// The newest tested ABI version. Older kernels apply the rules that they support.
const TESTED: ABI = ABI::V6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landlock {
    Version(u32),
    Absent,
}

impl fmt::Display for Landlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(f, "Landlock {version}"),
            Self::Absent => f.write_str("no Landlock (not supported by this kernel)"),
        }
    }
}

/// Permits reading only below `readable`, ignoring paths that cannot be opened. Forbids binding and
/// connecting TCP sockets, connecting to abstract sockets of other processes, and sending them signals. Sets
/// `no_new_privs`, even on kernels without Landlock.
pub fn restrict_files(readable: &[&Path]) -> Result<Landlock> {
    let status =
        restrict(readable).map_err(|error| Error::last("apply", format!("Landlock's rules ({error})")))?;
    Ok(match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => Landlock::Version(effective_abi as u32),
        _ => Landlock::Absent,
    })
}

fn restrict(readable: &[&Path]) -> std::result::Result<RestrictionStatus, RulesetError> {
    Ruleset::default()
        .handle_access(AccessFs::from_all(TESTED))?
        .handle_access(AccessNet::from_all(TESTED))?
        .scope(Scope::from_all(TESTED))?
        .create()?
        .add_rules(path_beneath_rules(readable, AccessFs::ReadFile | AccessFs::ReadDir))?
        .restrict_self()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, unsafe_code, reason = "tests open files and send a signal")]
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
    use crate::forked_process;

    #[test]
    fn allows_reading_only_below_the_given_paths() {
        let mut output = forked_process::start(|parent| {
            let restricted = restrict_files(&[Path::new("/proc")]);
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
            let restricted = restrict_files(&[]);
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
