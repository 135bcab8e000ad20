//! Folders in memory (tmpfs) that can be reached only by descriptor.
#![expect(unsafe_code, reason = "unshare")]

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::thread;

use rustix::fd::BorrowedFd;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use rustix::thread::UnshareFlags;

use crate::error::{Context, Error, Result};

#[derive(Debug)]
pub struct MemoryFolder {
    folder: OwnedFd,
}

impl MemoryFolder {
    /// Mounts the folder in a private mount namespace, which root of any user namespace can create. Errors
    /// contain `name`.
    pub fn create(name: &str) -> Result<Self> {
        // Only this new thread leaves the process's mount namespace.
        let mounted = thread::scope(|scope| scope.spawn(|| mount(name)).join());
        let folder = mounted.unwrap_or_else(|_| Err(Error::new("create folder", name, libc::EIO)))?;
        Ok(Self { folder })
    }

    #[must_use]
    pub fn path(&self, file: &str) -> PathBuf {
        Self::path_by(self.folder.as_raw_fd(), file)
    }

    #[must_use]
    pub fn path_by(number: i32, file: &str) -> PathBuf {
        format!("/proc/self/fd/{number}/{file}").into()
    }

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
    // SAFETY: the function is unsafe only because of CLONE_FILES.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }.named("create", object)?;
    let system = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC).named("create", object)?;
    fsconfig_create(&system).named("create", object)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, attributes).named("create", object)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "writes files")]
#[expect(clippy::disallowed_macros, reason = "prints the reason for skipping")]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn holds_files_and_sockets_without_visible_mount() {
        let mounts = || std::fs::read_to_string("/proc/self/mounts").expect("Linux");
        let before = mounts();
        let folder = match MemoryFolder::create("test") {
            Ok(folder) => folder,
            Err(error) => return eprintln!("skipped: sys::memory_folder: {error}"),
        };
        assert_eq!(mounts(), before);
        let listener = UnixListener::bind(folder.path("socket")).expect("writable");
        let mut to = UnixStream::connect(folder.path("socket")).expect("connects");
        to.write_all(b"hello").expect("connected");
        drop(to);
        let mut text = String::new();
        listener.accept().expect("connected").0.read_to_string(&mut text).expect("text");
        assert_eq!(text, "hello");
        let second = folder.descriptor().expect("a descriptor");
        assert!(MemoryFolder::path_by(second.as_raw_fd(), "socket").exists(), "the same folder");
        let path = folder.path("socket");
        drop((folder, second));
        assert!(!path.exists());
    }
}
