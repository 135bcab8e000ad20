//! Decides which files to trust. For root, OpenSSH's `StrictModes` rules apply (sshd_config(5)), except for
//! folders such as /tmp. For other users, only files that are world-writable or belong to someone else are
//! rejected, so a umask of 002 still works.
#![expect(clippy::disallowed_methods, reason = "opens a trusted file by its descriptor")]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use thiserror::Error;

use crate::error::Context;
use crate::process;
use crate::resolve::{OTHERS_WRITE, Passed, STICKY, is_own, is_roots, own_descriptor, resolve};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    Anyone,
    Owner,
}

#[derive(Debug, Error)]
pub enum TrustError {
    #[error("cannot trust {}: {problem}", path.display())]
    Untrusted { path: PathBuf, problem: String, remedy: String },
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

type Problem = (String, String);

/// Descriptors of this process, such as /dev/stdin, are trusted, because the user who started it opened them.
pub fn open_trusted(path: &Path, readers: Readers) -> Result<File, TrustError> {
    let unreadable = |source| TrustError::Unreadable { path: path.to_owned(), source };
    if let Some(file) = own_descriptor(path) {
        return file.map_err(|error| unreadable(error.into()));
    }
    let file = judged(path, readers)?;
    // Reopen the file only after the check, because opening an untrusted pipe or device could block.
    let place = format!("/proc/self/fd/{}", file.as_raw_fd());
    OpenOptions::new().read(true).open(place).map_err(unreadable)
}

pub fn require_trusted(path: &Path) -> Result<(), TrustError> {
    judged(path, Readers::Anyone).map(drop)
}

/// Opens the file with O_PATH. If the file is missing, the error says so, even in an untrusted folder.
fn judged(path: &Path, readers: Readers) -> Result<OwnedFd, TrustError> {
    let unreadable = |source| TrustError::Unreadable { path: path.to_owned(), source };
    let mut problem = None;
    let (file, stat) = locate(path, &mut problem).map_err(unreadable)?;
    match problem.or_else(|| problem_of_file(path, &stat, readers)) {
        Some((problem, remedy)) => Err(TrustError::Untrusted { path: path.to_owned(), problem, remedy }),
        None => Ok(file),
    }
}

fn locate(path: &Path, problem: &mut Option<Problem>) -> io::Result<(OwnedFd, Stat)> {
    if process::user() != 0 {
        let object = || path.display().to_string();
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let file = rustix::fs::openat(CWD, path, flags, Mode::empty()).named("open", object)?;
        let stat = rustix::fs::fstat(&file).named("stat", object)?;
        return Ok((file, stat));
    }
    let found = resolve(&std::path::absolute(path)?, true, &mut |passed, path, stat| {
        if problem.is_none() {
            *problem = problem_on_the_way(passed, path, stat);
        }
        Ok(())
    })?;
    found.file.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Root must not open a file that another user can replace.
fn problem_on_the_way(passed: Passed, path: &Path, stat: &Stat) -> Option<Problem> {
    let (name, mode) = (path.display(), stat.st_mode & 0o7777);
    let noun = if passed == Passed::Folder { "folder" } else { "link" };
    if !is_own(stat) && !is_roots(stat) {
        let command = if passed == Passed::Folder { "chown" } else { "chown -h" };
        let problem = format!("the {noun} {name} belongs to user {}", stat.st_uid);
        return Some((problem, format!("{command} root {name}")));
    }
    let is_open = passed == Passed::Folder && mode & OTHERS_WRITE != 0 && mode & STICKY == 0;
    let problem = || format!("other users can replace files in the folder {name} (mode {mode:04o})");
    is_open.then(|| (problem(), format!("chmod go-w {name}")))
}

fn problem_of_file(path: &Path, stat: &Stat, readers: Readers) -> Option<Problem> {
    let (name, mode) = (path.display(), stat.st_mode & 0o7777);
    let is_root = process::user() == 0;
    if !is_own(stat) && !is_roots(stat) {
        let owner = if is_root { "root".to_owned() } else { process::user().to_string() };
        return Some((format!("it belongs to user {}", stat.st_uid), format!("chown {owner} {name}")));
    } else if FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice {
        return None;
    }
    let (writers, who, bits) =
        if is_root { (OTHERS_WRITE, "other users", "go-w") } else { (0o002, "every user", "o-w") };
    // Service keys often belong to root and are readable by a group, e.g. in /etc/ssl/private on Debian.
    let secret = if is_roots(stat) { 0o037 } else { 0o077 };
    if readers == Readers::Owner && mode & secret != 0 {
        let problem = format!("it is secret, and other users can read it (mode {mode:04o})");
        return Some((problem, format!("chmod 600 {name}")));
    }
    let is_open = mode & writers != 0;
    is_open.then(|| (format!("{who} can write to it (mode {mode:04o})"), format!("chmod {bits} {name}")))
}

#[cfg(test)]
mod tests;
