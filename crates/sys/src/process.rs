//! A handle for a process. It never affects a later process with the same PID.
#![expect(clippy::disallowed_methods, reason = "reads process state from /proc")]

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::Signal;

use crate::error::{Context, Error, Result};

#[must_use]
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[derive(Debug)]
pub struct Process {
    /// The process's folder in /proc. It also serves as a pidfd.
    folder: OwnedFd,
    pid: u32,
}

impl Process {
    /// Opens a process of this user. Returns `None` if it has ended, and fails for processes of other users.
    pub fn own(pid: u32, start_time: u64) -> Result<Option<Self>> {
        let Some(process) = Self::folder_of(pid)? else { return Ok(None) };
        let stat = process.read("stat").ok().and_then(|text| parse_stat(&text));
        if !stat.is_some_and(|stat| stat.is_alive_since(start_time)) {
            return Ok(None);
        }
        process.require_own()?;
        Ok(Some(process))
    }

    /// Opens the process that has this PID now, or returns `None` if there is none. Fails for processes of
    /// other users, unless the caller is root.
    pub fn running(pid: u32) -> Result<Option<Self>> {
        let Some(process) = Self::folder_of(pid)? else { return Ok(None) };
        if !process.is_alive() {
            return Ok(None);
        }
        if user() != 0 {
            process.require_own()?;
        }
        Ok(Some(process))
    }

    #[must_use]
    pub fn is_alive(&self) -> bool {
        let stat = self.read("stat").ok().and_then(|text| parse_stat(&text));
        stat.is_some_and(|stat| !stat.is_zombie())
    }

    fn folder_of(pid: u32) -> Result<Option<Self>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::openat(CWD, format!("/proc/{pid}"), flags, Mode::empty()) {
            Err(Errno::NOENT) => Ok(None),
            folder => Ok(Some(Self { folder: folder.named("open", || format!("process {pid}"))?, pid })),
        }
    }

    /// Succeeds if the process has already ended.
    pub fn terminate(&self) -> Result<()> {
        self.send(Signal::TERM, "terminate")
    }

    pub fn kill(&self) -> Result<()> {
        self.send(Signal::KILL, "kill")
    }

    pub(crate) fn open(&self, file: &str) -> Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        rustix::fs::openat(&self.folder, file, flags, Mode::empty())
            .named("open", || format!("/proc/{}/{file}", self.pid))
    }

    fn send(&self, signal: Signal, operation: &'static str) -> Result<()> {
        match rustix::process::pidfd_send_signal(&self.folder, signal) {
            Err(Errno::SRCH) => Ok(()),
            sent => sent.named(operation, || self.to_string()),
        }
    }

    /// Reads a text file of the process in /proc, e.g. `cgroup`.
    pub fn read(&self, file: &str) -> Result<String> {
        let mut text = String::new();
        let read = File::from(self.open(file)?).read_to_string(&mut text);
        read.named("read", || format!("/proc/{}/{file}", self.pid))?;
        Ok(text)
    }

    /// Checks the user in `status`, because root owns the folder of a process that cannot be traced.
    fn require_own(&self) -> Result<()> {
        let user = user().to_string();
        let status = self.read("status")?;
        let users = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or("unknown");
        let Some(other) = users.split_whitespace().find(|other| *other != user) else { return Ok(()) };
        let hint = format!("it belongs to user {other}, and you are user {user}");
        Err(Error::new("act on", self.to_string(), libc::EPERM).with_hint(hint))
    }
}

impl std::fmt::Display for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {}", self.pid)
    }
}

/// Returns the start time in clock ticks (1/100 s) since boot. Together with the PID, it identifies a process.
pub fn start_time(pid: u32) -> Result<u64> {
    Ok(stat(pid)?.start_time)
}

#[must_use]
pub fn is_alive(pid: u32, start_time: u64) -> bool {
    stat(pid).is_ok_and(|stat| stat.is_alive_since(start_time))
}

#[derive(Debug, PartialEq, Eq)]
struct Stat {
    state: char,
    start_time: u64,
}

impl Stat {
    const fn is_alive_since(&self, start_time: u64) -> bool {
        self.start_time == start_time && !self.is_zombie()
    }

    const fn is_zombie(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

fn stat(pid: u32) -> Result<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat"));
    let text = text.named("read state of", || format!("process {pid}"))?;
    parse_stat(&text).ok_or_else(|| Error::new("read state of", format!("process {pid}"), libc::EPROTO))
}

/// The name in field 2 of /proc/PID/stat may contain spaces and parentheses, so parsing starts after the last
/// parenthesis.
fn parse_stat(text: &str) -> Option<Stat> {
    let mut fields = text[text.rfind(')')? + 1..].split_whitespace();
    let state = fields.next()?.chars().next()?;
    let start_time = fields.nth(18)?.parse().ok()?;
    Some(Stat { state, start_time })
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use super::*;
    use crate::userns;

    fn sleeper(user: u32) -> (Child, u64) {
        let child = Command::new("sleep").arg("60").uid(user).spawn().expect("sleep exists");
        let start_time = start_time(child.id()).expect("running");
        (child, start_time)
    }

    #[test]
    fn signals_do_not_reach_reused_pids() {
        let (mut child, start_time) = sleeper(user());
        let process = Process::own(child.id(), start_time).expect("own process").expect("running");
        process.terminate().expect("own process");
        child.wait().expect("own child");
        assert!(Process::own(child.id(), start_time).expect("gone").is_none());
        process.terminate().and_then(|()| process.kill()).expect("an ended process is no error");
    }

    #[test]
    fn rejects_other_start_time_and_missing_process() {
        let (mut child, start_time) = sleeper(user());
        assert!(Process::own(child.id(), start_time - 1).expect("readable").is_none());
        for pid in [0, u32::MAX, 1 << 31] {
            assert!(Process::own(pid, start_time).expect("no such process").is_none(), "{pid}");
        }
        child.kill().and_then(|()| child.wait()).expect("own child");
    }

    #[test]
    fn rejects_process_of_another_user() {
        if user() != 0 || userns::is_nested() {
            return;
        }
        let (mut child, start_time) = sleeper(65_534);
        let error = Process::own(child.id(), start_time).expect_err("another user's").to_string();
        assert!(error.contains("belongs to user 65534"), "{error}");
        assert!(child.try_wait().expect("own child").is_none(), "still running");
        child.kill().and_then(|()| child.wait()).expect("own child");
    }

    #[test]
    fn opened_process_is_not_confused_with_later_one() {
        let (mut child, _) = sleeper(user());
        let process = Process::running(child.id()).expect("own process").expect("it runs");
        assert!(process.is_alive() && process.read("comm").is_ok_and(|name| name == "sleep\n"));
        child.kill().and_then(|()| child.wait()).expect("own child");
        assert!(!process.is_alive() && process.read("comm").is_err());
        assert!(Process::running(child.id()).expect("gone").is_none());
    }

    #[test]
    fn parses_stat_with_parentheses_in_the_name() {
        let tail = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        for name in ["(sh)", "(a) R 1 (b)", "(((", "())", "(x y)"] {
            let parsed = parse_stat(&format!("12 {name}) {tail}"));
            assert_eq!(parsed, Some(Stat { state: 'S', start_time: 4711 }), "{name}");
        }
        for broken in [
            "",
            "12 (sh",
            "12 (sh)",
            "12 (sh) S 1 2",
            "12 (sh) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x",
        ] {
            assert_eq!(parse_stat(broken), None, "{broken}");
        }
    }
}
