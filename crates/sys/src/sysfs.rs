//! The kernel's view of devices, sysfs, as the calling thread's network namespace has it: mounted nowhere.
//!
//! It must not know which files anybody looks for. See sysfs(5), fsopen(2) (Linux 5.2).
#![expect(unsafe_code, reason = "unshare, which rustix calls unsafe")]

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use rustix::thread::UnshareFlags;

use crate::error::{Context, Error, Result};

/// A sysfs that shows the devices of one namespace, for as long as this value lives.
#[derive(Debug)]
pub struct Sysfs {
    root: OwnedFd,
}

impl Sysfs {
    /// That of the namespace of the calling thread. Nothing is mounted that any process could see. To be called on a
    /// thread that soon ends: where its root is that of a user namespace only, it gets a mount namespace of its own.
    pub fn here() -> Result<Self> {
        let refused = match Self::open() {
            Err(error) if error.is_permission() => error,
            opened => return opened,
        };
        // Who may mount is decided by the user namespace that the thread's mount namespace belongs to.
        // SAFETY: CLONE_NEWNS does not touch the table of descriptors, which is what makes unshare unsafe.
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

    /// Where this process finds it, in the place of `/sys`.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.root.as_raw_fd()).into()
    }
}

fn explain(error: Error) -> Error {
    if error.is_permission() {
        error.with_hint("that needs root, or a user namespace of its own")
    } else {
        error
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::netns;

    #[test]
    fn it_shows_the_devices_of_the_namespace_in_which_it_was_opened() {
        let Some(ns) = netns::testing::namespace() else { return };
        // A sandbox may refuse the mount to a root that has namespaces.
        let Ok(sysfs) = ns.run_in(Sysfs::here).expect("enters") else { return };
        let found = fs::read_dir(sysfs.path().join("class/net")).expect("readable");
        let names: Vec<_> = found.flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(names, ["lo"], "and not those of this thread's namespace");
    }
}
