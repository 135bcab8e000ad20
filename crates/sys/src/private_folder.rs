//! Folders that only this user can write to. Every component of the path is held open, so that it cannot be
//! swapped after the check.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::error::{Context, Error, Result};
use crate::resolve::{MAX_LINKS, NOBODY, OTHERS_WRITE, STICKY, components, is_own, is_roots};
use crate::{process, userns};

const MAX_BYTES: u64 = 1 << 20;

/// A folder with mode 0700. Only this user and root can replace components of its path. A missing folder
/// counts as empty.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
    folder: Option<OwnedFd>,
}

impl PrivateFolder {
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self { path: path.to_owned(), folder: walk(path, false)? })
    }

    pub fn create(path: &Path) -> Result<Self> {
        Ok(Self { path: path.to_owned(), folder: walk(path, true)? })
    }

    pub fn names(&self) -> Result<Vec<String>> {
        let Some(folder) = &self.folder else { return Ok(Vec::new()) };
        let object = || self.describe("");
        let entries: Vec<_> = Dir::read_from(folder).and_then(Iterator::collect).named("read", object)?;
        let names = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
        Ok(names.filter(|name| !name.starts_with('.')).collect())
    }

    /// Returns `None` if the file does not exist. Fails unless it is a regular file that only this user can
    /// write to.
    pub fn read(&self, name: &str) -> Result<Option<String>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let object = || self.describe(name);
        let file = match rustix::fs::openat(self.folder()?, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(refused(object(), Errno::LOOP, "it is a symlink: remove it")),
            file => File::from(file.named("open", object)?),
        };
        let stat = rustix::fs::fstat(&file).named("stat", object)?;
        let mode = stat.st_mode & 0o7777;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(refused(object(), Errno::INVAL, "it is not a regular file: remove it"));
        } else if !is_own(&stat) || mode & OTHERS_WRITE != 0 {
            let hint = format!(
                "it belongs to user {} and has mode {mode:04o}, so other users may have written it: remove it",
                stat.st_uid
            );
            return Err(refused(object(), Errno::PERM, hint));
        }
        let mut text = String::new();
        file.take(MAX_BYTES).read_to_string(&mut text).named("read", object)?;
        Ok(Some(text))
    }

    pub fn write_new(&self, name: &str, text: &str) -> Result<()> {
        let folder = self.folder()?;
        let object = || self.describe(name);
        let draft = format!(".{name}.{}.draft", std::process::id());
        let _ = rustix::fs::unlinkat(folder, &draft, AtFlags::empty());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file =
            rustix::fs::openat(folder, &draft, flags, Mode::RUSR | Mode::WUSR).named("write", object)?;
        // The file is written under a temporary name and then hard-linked. Readers never see a partial file, and
        // the second of two concurrent writers fails.
        let written = File::from(file).write_all(text.as_bytes()).named("write", object).and_then(|()| {
            rustix::fs::linkat(folder, &draft, folder, name, AtFlags::empty()).named("write", object)
        });
        // A leftover draft is never read.
        let _ = rustix::fs::unlinkat(folder, &draft, AtFlags::empty());
        written
    }

    pub fn remove(&self, name: &str) -> Result<()> {
        match rustix::fs::unlinkat(self.folder()?, name, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            removed => removed.named("remove", || self.describe(name)),
        }
    }

    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn folder(&self) -> Result<&OwnedFd> {
        self.folder.as_ref().ok_or_else(|| Error::new("open", self.describe(""), libc::ENOENT))
    }

    fn describe(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }
}

struct Step {
    folder: OwnedFd,
    path: PathBuf,
    is_own: bool,
    mode: u32,
}

/// Checks every component, and creates missing ones if `make` is set.
fn walk(path: &Path, make: bool) -> Result<Option<OwnedFd>> {
    if !path.is_absolute() {
        return Err(refused(path, Errno::INVAL, "it must be an absolute path"));
    } else if process::user() == NOBODY && userns::is_nested() {
        let hint = "this user namespace hides the owners of files: run as a user that it maps";
        return Err(refused(path, Errno::PERM, hint));
    }
    let (mut at, mut rest, mut links) = (root()?, components(path), 0);
    while let Some(name) = rest.pop() {
        let path = at.path.join(&name);
        let operation = if make { "make" } else { "open" };
        let object = || format!("folder {}", path.display());
        let Some(next) = reach(&at.folder, &name, make).named(operation, object)? else { return Ok(None) };
        let stat = rustix::fs::fstat(&next).named("stat", object)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
            at = good(next, &stat, path)?;
            continue;
        }
        links += 1;
        if at.mode & OTHERS_WRITE != 0 || links > MAX_LINKS {
            return Err(refused(
                &path,
                Errno::LOOP,
                "it is a symlink in a folder that other users can write to: remove it",
            ));
        }
        let target = rustix::fs::readlinkat(&next, "", Vec::new()).named("read link", object)?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        rest.extend(components(&target));
        if target.is_absolute() {
            at = root()?;
        }
    }
    opened(&at).map(Some)
}

fn root() -> Result<Step> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(CWD, "/", flags, Mode::empty()).named("open", || "folder /")?;
    let stat = rustix::fs::fstat(&folder).named("stat", || "folder /")?;
    good(folder, &stat, "/".into())
}

fn reach(at: &OwnedFd, name: &OsString, make: bool) -> rustix::io::Result<Option<OwnedFd>> {
    let open = || {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(at, name, flags, Mode::empty())
    };
    match open() {
        Err(Errno::NOENT) if make => match rustix::fs::mkdirat(at, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => open().map(Some),
            Err(error) => Err(error),
        },
        Err(Errno::NOENT) => Ok(None),
        opened => opened.map(Some),
    }
}

/// Rejects folders in which other users, except root, could replace files.
fn good(folder: OwnedFd, stat: &Stat, path: PathBuf) -> Result<Step> {
    let (owner, mode) = (stat.st_uid, stat.st_mode & 0o7777);
    let is_own = is_own(stat);
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        Err(refused(&path, Errno::NOTDIR, "remove it"))
    } else if !is_own && !is_roots(stat) {
        let hint =
            format!("it belongs to user {owner}, who can replace its contents: use a folder of your own");
        Err(refused(&path, Errno::PERM, hint))
    } else if mode & OTHERS_WRITE != 0 && mode & STICKY == 0 {
        let hint = format!(
            "other users can replace its contents (mode {mode:04o}): `chmod go-w {}`",
            path.display()
        );
        Err(refused(&path, Errno::PERM, hint))
    } else {
        Ok(Step { folder, path, is_own, mode })
    }
}

fn opened(at: &Step) -> Result<OwnedFd> {
    let path = at.path.display();
    if !at.is_own {
        return Err(refused(&at.path, Errno::PERM, "it belongs to root: use a folder of your own"));
    } else if at.mode & 0o077 != 0 {
        let hint = format!("it must be accessible only to you (mode {:04o}): `chmod 700 {path}`", at.mode);
        return Err(refused(&at.path, Errno::PERM, hint));
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(&at.folder, ".", flags, Mode::empty()).named("open", || format!("folder {path}"))
}

fn refused(path: impl AsRef<Path>, errno: Errno, hint: impl Into<String>) -> Error {
    Error::new("trust", path.as_ref().display().to_string(), errno.raw_os_error()).with_hint(hint)
}

#[cfg(test)]
mod tests;
