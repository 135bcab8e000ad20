//! Opens output files so that other users cannot redirect writes. Symlinks are followed only if this user or
//! root owns them.
#![expect(clippy::disallowed_methods, reason = "all other modules open output files here")]

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::error::{Context, Error, Result};
use crate::resolve::{OTHERS_WRITE, Passed, Resolved, is_own, is_roots, own_descriptor, resolve};

/// Replaces the file atomically. On failure, e.g. if the disk is full, the old contents remain. Pipes,
/// devices and descriptors of this process (/dev/stdout) are written directly. For a symlink owned by this
/// user, the target is replaced.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let object = || path.display().to_string();
    if let Some(file) = own_descriptor(path) {
        return file?.write_all(bytes).named("write", object);
    }
    let found = find(path, true)?;
    match &found.file {
        Some((file, stat)) if found.is_descriptor || kind(stat) != FileType::RegularFile => {
            refuse_planted(&found, stat)?;
            let place = format!("/proc/self/fd/{}", file.as_raw_fd());
            let opened = OpenOptions::new().write(true).truncate(found.is_descriptor).open(place);
            opened.and_then(|mut file| file.write_all(bytes)).named("write", object)
        }
        _ => replace_regular(&found, bytes),
    }
}

/// `mode` is subject to the umask. Fails if the file exists (EEXIST). If a write fails, the incomplete file
/// is removed.
pub fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let object = || path.display().to_string();
    let found = find(path, false)?;
    let mut file = create(&found.folder, &found.name, mode).named("write", object)?;
    file.write_all(bytes).named("write", object).inspect_err(|_| remove(&found.folder, &found.name))
}

/// Opens the file for appending and reading, or creates it. Fails unless it is a regular file or a pipe.
pub fn open_append(path: &Path) -> Result<File> {
    if let Some(file) = own_descriptor(path) {
        return file;
    }
    let found = find(path, true)?;
    if let Some((file, stat)) = &found.file
        && (found.is_descriptor || kind(stat) != FileType::RegularFile)
    {
        refuse_planted(&found, stat)?;
        let place = format!("/proc/self/fd/{}", file.as_raw_fd());
        let opened = OpenOptions::new().read(true).append(true).open(place);
        return opened.named("open", || path.display().to_string());
    }
    open_regular(&found, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE)
}

pub fn append_stdout(path: &Path) -> Result<()> {
    let file = open_append(path)?;
    rustix::stdio::dup2_stdout(&file).named("redirect standard output to", || path.display().to_string())
}

/// Creates a file for flock(2) without ever blocking. Fails for symlinks and special files.
pub fn open_lock(path: &Path) -> Result<File> {
    open_regular(&find(path, false)?, OFlags::RDWR | OFlags::CREATE)
}

/// Opens a file created by [`open_lock`] or [`replace`], without ever blocking.
pub fn open_existing(path: &Path) -> Result<File> {
    open_regular(&find(path, false)?, OFlags::RDONLY)
}

pub fn rename(from: &Path, to: &Path) -> Result<()> {
    let (old, new) = (find(from, false)?, find(to, false)?);
    let renamed = rustix::fs::renameat(old.folder, old.name, new.folder, new.name);
    renamed.named("rename", || from.display().to_string())
}

fn find(path: &Path, follow_last: bool) -> Result<Resolved> {
    resolve(path, follow_last, &mut |passed, path, stat| {
        if passed == Passed::Folder || is_own(stat) || is_roots(stat) {
            return Ok(());
        }
        let hint = format!("user {} created it: remove it, or write elsewhere", stat.st_uid);
        Err(Error::new("follow", format!("the link {}", path.display()), libc::EACCES).with_hint(hint))
    })
}

fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Refuses another user's pipe or device in a folder that others can write to, as the kernel does with
/// /proc/sys/fs/protected_fifos.
fn refuse_planted(found: &Resolved, stat: &Stat) -> Result<()> {
    let object = || found.path.display().to_string();
    let folder = rustix::fs::fstat(&found.folder).named("stat", object)?;
    let is_folders = stat.st_uid == folder.st_uid || found.is_descriptor;
    if is_shared(&folder) && !is_own(stat) && !is_roots(stat) && !is_folders {
        let hint = format!("user {} created it: remove it, or write elsewhere", stat.st_uid);
        return Err(Error::new("write", object(), libc::EACCES).with_hint(hint));
    }
    Ok(())
}

fn is_shared(folder: &Stat) -> bool {
    folder.st_mode & OTHERS_WRITE != 0 || !(is_own(folder) || is_roots(folder))
}

fn open_regular(found: &Resolved, flags: OFlags) -> Result<File> {
    let object = || found.path.display().to_string();
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o666);
    let file = match rustix::fs::openat(&found.folder, &found.name, flags, mode) {
        Err(Errno::LOOP) => {
            return Err(Error::new("open", object(), libc::ELOOP).with_hint("it is a symlink: remove it"));
        }
        file => file.named("open", object)?,
    };
    let folder = rustix::fs::fstat(&found.folder).named("stat", object)?;
    let stat = rustix::fs::fstat(&file).named("stat", object)?;
    if kind(&stat) != FileType::RegularFile {
        return Err(
            Error::new("open", object(), libc::EINVAL).with_hint("it is not a regular file: remove it")
        );
    } else if stat.st_nlink > 1 && is_shared(&folder) {
        // This may be another user's hard link to one of this user's files.
        return Err(
            Error::new("open", object(), libc::EMLINK).with_hint("it has several hard links: remove it")
        );
    }
    Ok(File::from(file))
}

fn replace_regular(found: &Resolved, bytes: &[u8]) -> Result<()> {
    let object = || found.path.display().to_string();
    let part = format!(".{:016x}.part", RandomState::new().build_hasher().finish());
    let model = found.file.as_ref().map(|(_, stat)| stat);
    // The umask still applies, so that another user's file cannot decide who may write to the new one.
    let mode = model.map_or(0o666, |model| model.st_mode & 0o666);
    let mut file = create(&found.folder, OsStr::new(&part), mode).named("write", object)?;
    let own_mode = model.filter(|model| is_own(model)).map(|model| Mode::from_raw_mode(model.st_mode));
    let moded = own_mode.map_or(Ok(()), |mode| rustix::fs::fchmod(&file, mode).named("write", object));
    let written = moded.and_then(|()| file.write_all(bytes).named("write", object));
    let written = written.and_then(|()| file.sync_all().named("write", object)).and_then(|()| {
        rustix::fs::renameat(&found.folder, &part, &found.folder, &found.name).named("write", object)
    });
    written.inspect_err(|_| remove(&found.folder, OsStr::new(&part)))
}

fn create(folder: &OwnedFd, name: &OsStr, mode: u32) -> rustix::io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(mode)).map(File::from)
}

fn remove(folder: &OwnedFd, name: &OsStr) {
    let _ = rustix::fs::unlinkat(folder, name, AtFlags::empty());
}

#[cfg(test)]
mod tests;
