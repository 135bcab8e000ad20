//! Functions for an init process: mounting, loading modules, powering off.
#![expect(clippy::disallowed_methods, reason = "the kernel reads a module from an open file")]

use std::{fs::File, path::Path};

use rustix::{
    mount::{MountFlags, mount},
    system::{RebootCommand, finit_module, reboot},
};

use crate::error::{Context, Error, Result};

/// MODULE_INIT_COMPRESSED_FILE from linux/module.h.
const COMPRESSED: i32 = 4;

/// Mounts a file system such as `proc`, `sysfs` or `tmpfs`. Succeeds if it is already mounted.
pub fn mount_kernel_files(kind: &str, folder: &Path) -> Result<()> {
    match mount(kind, folder, kind, MountFlags::empty(), None) {
        Err(rustix::io::Errno::BUSY) => Ok(()),
        result => result.named("mount", || format!("{kind} on {}", folder.display())),
    }
}

/// Succeeds if the module is already loaded.
pub fn load_module(file: &Path) -> Result<()> {
    let object = || format!("kernel module {}", file.display());
    let open = File::open(file).map_err(|error| Error::from_io("open", object(), &error))?;
    let compressed = file.extension().is_some_and(|extension| extension != "ko");
    match finit_module(open, c"", if compressed { COMPRESSED } else { 0 }) {
        Err(rustix::io::Errno::EXIST) => Ok(()),
        result => result.named("load", object),
    }
}

/// Returns only on failure.
#[must_use]
pub fn power_off() -> Error {
    end(RebootCommand::PowerOff, "turn off")
}

/// Returns only on failure.
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
    fn rejects_file_that_is_not_a_module() {
        let file = std::env::current_exe().expect("the test program");
        let error = load_module(&file).expect_err("not a module").to_string();
        assert!(
            error.starts_with("cannot load kernel module ") && error.contains(&*file.to_string_lossy()),
            "{error}"
        );
        let error = load_module(Path::new("/nonexistent.ko")).expect_err("no file").to_string();
        assert!(error.starts_with("cannot open kernel module /nonexistent.ko"), "{error}");
    }

    #[test]
    fn names_unsupported_file_system() {
        let error =
            mount_kernel_files("nonesuch", Path::new("/proc")).expect_err("no such file system").to_string();
        assert!(error.contains("nonesuch on /proc"), "{error}");
    }
}
