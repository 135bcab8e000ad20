//! What the first process of a machine does: mount the kernel's file systems, load modules, turn the machine off.
//!
//! It must not know why the machine runs. See mount(2), finit_module(2), reboot(2).
#![expect(clippy::disallowed_methods, reason = "a module is handed to the kernel as an open file")]

use std::{fs::File, path::Path};

use rustix::{
    mount::{MountFlags, mount},
    system::{RebootCommand, finit_module, reboot},
};

use crate::error::{Context, Error, Result};

/// The kernel is to unpack the module itself (MODULE_INIT_COMPRESSED_FILE of linux/module.h).
const COMPRESSED: i32 = 4;

/// Mounts a file system of the kernel's own (`proc`, `sysfs`, `tmpfs`, ...) on `folder`. One that is mounted there
/// already is no error.
pub fn mount_kernel_files(kind: &str, folder: &Path) -> Result<()> {
    match mount(kind, folder, kind, MountFlags::empty(), None) {
        Err(rustix::io::Errno::BUSY) => Ok(()),
        result => result.named("mount", || format!("{kind} on {}", folder.display())),
    }
}

/// Loads the kernel module in `file`. One that is loaded already is no error.
pub fn load_module(file: &Path) -> Result<()> {
    let object = || format!("kernel module {}", file.display());
    let open = File::open(file).map_err(|error| Error::from_io("open", object(), &error))?;
    let compressed = file.extension().is_some_and(|extension| extension != "ko");
    match finit_module(open, c"", if compressed { COMPRESSED } else { 0 }) {
        Err(rustix::io::Errno::EXIST) => Ok(()),
        result => result.named("load", object),
    }
}

/// Turns the machine off at once, whatever still runs. Comes back only with an error.
#[must_use]
pub fn power_off() -> Error {
    end(RebootCommand::PowerOff, "turn off")
}

/// Restarts the machine at once, whatever still runs. Comes back only with an error.
#[must_use]
pub fn restart() -> Error {
    end(RebootCommand::Restart, "restart")
}

fn end(command: RebootCommand, operation: &'static str) -> Error {
    let errno = reboot(command).map_or_else(rustix::io::Errno::raw_os_error, |()| libc::EIO);
    Error::new(operation, "the machine", errno)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_module_is_refused_by_name() {
        let file = std::env::current_exe().expect("a test is a file");
        let error = load_module(&file).expect_err("not a module").to_string();
        assert!(
            error.starts_with("cannot load kernel module ") && error.contains(&*file.to_string_lossy()),
            "{error}"
        );
        let error = load_module(Path::new("/nonexistent.ko")).expect_err("no file").to_string();
        assert!(error.starts_with("cannot open kernel module /nonexistent.ko"), "{error}");
    }

    #[test]
    fn a_file_system_that_the_kernel_lacks_is_named() {
        let error =
            mount_kernel_files("nonesuch", Path::new("/proc")).expect_err("there is none").to_string();
        assert!(error.contains("nonesuch on /proc"), "{error}");
    }
}
