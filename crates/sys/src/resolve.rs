//! Resolves paths component by component, so that a folder or symlink cannot be replaced after the check.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, PROC_SUPER_MAGIC, Stat};
use rustix::io::Errno;

use crate::error::{Context, Error, Result};
use crate::{process, userns};

pub(crate) const MAX_LINKS: u32 = 40;
pub(crate) const OTHERS_WRITE: u32 = 0o022;
pub(crate) const STICKY: u32 = 0o1000;
/// The owner that a user namespace shows for unmapped users (/proc/sys/kernel/overflowuid).
pub(crate) const NOBODY: u32 = 65_534;

const SEARCH: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passed {
    Folder,
    Link,
}

#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) folder: OwnedFd,
    pub(crate) name: OsString,
    pub(crate) path: PathBuf,
    pub(crate) file: Option<(OwnedFd, Stat)>,
    pub(crate) is_descriptor: bool,
}

/// `judge` checks every folder and symlink before it is followed. If the last component is a symlink, it is
/// followed only if `follow_last` is set.
pub(crate) fn resolve(
    path: &Path,
    follow_last: bool,
    judge: &mut dyn FnMut(Passed, &Path, &Stat) -> Result<()>,
) -> Result<Resolved> {
    let start = if path.is_absolute() { "/" } else { "." };
    let (mut folder, mut place) = (open_folder(start)?, PathBuf::from(start));
    let stat = rustix::fs::fstat(&folder).named("stat", || start)?;
    judge(Passed::Folder, &place, &stat)?;
    let (mut rest, mut links) = (components(path), 0);
    while let Some(name) = rest.pop() {
        let (path, is_last) = (place.join(&name), rest.is_empty());
        let object = || path.display().to_string();
        let file = match rustix::fs::openat(&folder, &name, SEARCH, Mode::empty()) {
            Err(Errno::NOENT) if is_last => {
                return Ok(Resolved { folder, name, path, file: None, is_descriptor: false });
            }
            file => file.named("open", object)?,
        };
        let stat = rustix::fs::fstat(&file).named("stat", object)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind != FileType::Symlink || (is_last && !follow_last) {
            if is_last {
                let file = Some((file, stat));
                return Ok(Resolved { folder, name, path, file, is_descriptor: false });
            } else if kind != FileType::Directory {
                return Err(Error::new("open", object(), libc::ENOTDIR));
            }
            judge(Passed::Folder, &path, &stat)?;
            (folder, place) = (file, path);
        } else if rustix::fs::fstatfs(&folder).named("stat", object)?.f_type == PROC_SUPER_MAGIC {
            // Some symlinks in /proc refer to open files that have no path (proc_pid_fd(5)).
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            let file = rustix::fs::openat(&folder, &name, flags, Mode::empty()).named("open", object)?;
            if is_last {
                let stat = rustix::fs::fstat(&file).named("stat", object)?;
                let file = Some((file, stat));
                return Ok(Resolved { folder, name, path, file, is_descriptor: true });
            }
            (folder, place) = (file, path);
        } else {
            links += 1;
            if links > MAX_LINKS {
                return Err(Error::new("open", object(), libc::ELOOP));
            }
            judge(Passed::Link, &path, &stat)?;
            let target = rustix::fs::readlinkat(&file, "", Vec::new()).named("read link", object)?;
            let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
            rest.extend(components(&target));
            if target.is_absolute() {
                (folder, place) = (open_folder("/")?, "/".into());
            }
        }
    }
    let errno = if path.as_os_str().is_empty() { libc::ENOENT } else { libc::EISDIR };
    Err(Error::new("open", path.display().to_string(), errno))
}

fn open_folder(path: &str) -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, path, flags, Mode::empty()).named("open", || format!("folder {path}"))
}

pub(crate) fn components(path: &Path) -> Vec<OsString> {
    let passed = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::ParentDir);
    path.components().rev().filter(|part| passed(*part)).map(|part| part.as_os_str().to_owned()).collect()
}

pub(crate) fn is_own(stat: &Stat) -> bool {
    stat.st_uid == process::user()
}

/// In a user namespace that does not map root, root's files belong to `nobody`.
pub(crate) fn is_roots(stat: &Stat) -> bool {
    stat.st_uid == 0 || (stat.st_uid == NOBODY && userns::is_nested())
}

/// Duplicates a descriptor of this process, given by a path such as `/dev/stdout` or `/dev/fd/63` (process
/// substitution). Returns `None` for other paths.
#[expect(unsafe_code, reason = "no safe function duplicates a descriptor by number")]
pub(crate) fn own_descriptor(path: &Path) -> Option<Result<File>> {
    let number: u16 = match path.to_str()? {
        "/dev/stdin" => 0,
        "/dev/stdout" => 1,
        "/dev/stderr" => 2,
        text => {
            let folders = ["/dev/fd/", "/proc/self/fd/"];
            folders.iter().find_map(|folder| text.strip_prefix(folder))?.parse().ok()?
        }
    };
    // SAFETY: the call takes no pointer; invalid numbers are rejected with EBADF.
    let copy = unsafe { libc::fcntl(i32::from(number), libc::F_DUPFD_CLOEXEC, 0) };
    if copy < 0 {
        return Some(Err(Error::last("open", path.display().to_string())));
    }
    // SAFETY: the kernel has just created this descriptor.
    Some(Ok(unsafe { File::from_raw_fd(copy) }))
}
