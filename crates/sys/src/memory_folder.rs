//! Folders that are memory: they have no path of their own, only the descriptor by which whoever holds it reaches them,
//! and are gone with the last of those, whatever lies in them.
//!
//! It must not know what is put in them. See fsmount(2), proc_pid_fd(5).
#![expect(unsafe_code, reason = "unshare")]

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::thread;

use rustix::fd::BorrowedFd;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use rustix::thread::UnshareFlags;

use crate::error::{Context, Error, Result};

/// An empty folder in memory.
#[derive(Debug)]
pub struct MemoryFolder {
    folder: OwnedFd,
}

impl MemoryFolder {
    /// Makes one; `name` is what errors call it. It takes the rights to mount in a namespace of mounts that is made for
    /// it, which root of any user namespace has.
    pub fn create(name: &str) -> Result<Self> {
        // Only a thread of its own can leave the mounts of the process, which it may not be allowed to mount among.
        let made = thread::scope(|scope| scope.spawn(|| mount(name)).join());
        let folder = made.unwrap_or_else(|_| Err(Error::new("make folder", name, libc::EIO)))?;
        Ok(Self { folder })
    }

    /// The path of `file` in it, for this process.
    #[must_use]
    pub fn path(&self, file: &str) -> PathBuf {
        Self::path_by(self.folder.as_raw_fd(), file)
    }

    /// The path of `file` in the folder of descriptor `number`, for the process that has that.
    #[must_use]
    pub fn path_by(number: i32, file: &str) -> PathBuf {
        format!("/proc/self/fd/{number}/{file}").into()
    }

    /// A second descriptor of it.
    pub fn descriptor(&self) -> Result<File> {
        let second = self.folder.try_clone().named("duplicate descriptor of", || "a folder in memory")?;
        Ok(File::from(second))
    }
}

impl AsFd for MemoryFolder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}

fn mount(name: &str) -> Result<OwnedFd> {
    let object = || format!("folder {name} in memory");
    // SAFETY: CLONE_NEWNS does not touch the table of descriptors, which is what makes unshare unsafe.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }.named("make", object)?;
    let system = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC).named("make", object)?;
    fsconfig_create(&system).named("make", object)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, attributes).named("make", object)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "files are put into the folder")]
#[expect(clippy::disallowed_macros, reason = "a skipped test says why")]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn sockets_and_files_lie_in_it_and_no_mount_is_seen() {
        let mounts = || std::fs::read_to_string("/proc/self/mounts").expect("Linux");
        let before = mounts();
        let folder = match MemoryFolder::create("test") {
            Ok(folder) => folder,
            Err(error) => return eprintln!("skipped: sys::memory_folder: {error}"),
        };
        assert_eq!(mounts(), before);
        let listener = UnixListener::bind(folder.path("socket")).expect("it can be written");
        let mut to = UnixStream::connect(folder.path("socket")).expect("it listens");
        to.write_all(b"hello").expect("connected");
        drop(to);
        let mut said = String::new();
        listener.accept().expect("connected").0.read_to_string(&mut said).expect("text");
        assert_eq!(said, "hello");
        let second = folder.descriptor().expect("a descriptor");
        assert!(MemoryFolder::path_by(second.as_raw_fd(), "socket").exists(), "the same folder");
        let path = folder.path("socket");
        drop((folder, second));
        assert!(!path.exists());
    }
}
