//! An unmounted sysfs of the calling thread's network namespace. See sysfs(5), fsopen(2) (Linux 5.2).
#![expect(unsafe_code, reason = "unshare")]

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use rustix::thread::UnshareFlags;

use crate::error::{Context, Error, Result};

#[derive(Debug)]
pub struct Sysfs {
    root: OwnedFd,
}

impl Sysfs {
    /// Mounts sysfs without a visible mount point. Call this on a short-lived thread: if it is root only in a
    /// user namespace, it enters a new mount namespace.
    pub fn here() -> Result<Self> {
        let refused = match Self::open() {
            Err(error) if error.is_permission() => error,
            opened => return opened,
        };
        // The right to mount depends on the user namespace that owns the thread's mount namespace.
        // SAFETY: the function is unsafe only because of CLONE_FILES.
        match unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) } {
            Ok(()) => Self::open(),
            Err(_) => Err(refused),
        }
    }

    fn open() -> Result<Self> {
        let object = || "a sysfs of this network namespace";
        let context = fsopen("sysfs", FsOpenFlags::FSOPEN_CLOEXEC).named("open", object).map_err(explain)?;
        fsconfig_create(&context).named("make", object).map_err(explain)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let root = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
            .named("mount", object)
            .map_err(explain)?;
        Ok(Self { root })
    }

    /// The path that replaces `/sys` for this process.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.root.as_raw_fd()).into()
    }
}

fn explain(error: Error) -> Error {
    if error.is_permission() { error.with_hint("requires root or a user namespace") } else { error }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::netns;

    #[test]
    fn shows_devices_of_its_namespace() {
        let Some(ns) = netns::testing::namespace() else { return };
        let Ok(sysfs) = ns.run_in(Sysfs::here).expect("enters") else { return };
        let found = fs::read_dir(sysfs.path().join("class/net")).expect("readable");
        let names: Vec<_> = found.flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(names, ["lo"], "only devices of that namespace");
    }
}
