//! Who moves a machine's memory: a lock that the kernel lets go of when its holder ends, however it ends.

use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
};

use sys::output_file;

use crate::error::MemoryError;

/// The right to move the memory of a process of QEMU. Nobody else who asks for it here has it while this lives.
#[derive(Debug)]
pub(crate) struct MemoryLock {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl MemoryLock {
    /// Claims the memory of this process, in a folder that all who move memory here agree on.
    pub(crate) fn claim(pid: u32, folder: &Path) -> Result<Self, MemoryError> {
        // Another process of the same number is another machine.
        let started = sys::child::start_time(pid)?;
        let path = folder.join(format!("memory-{pid}-{started}.lock"));
        let refused = |error: std::io::Error| MemoryError::NoLock { path: path.clone(), source: error };
        fs::create_dir_all(folder).map_err(refused)?;
        let file = output_file::open_lock(&path).map_err(|error| refused(error.into()))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { path, _file: file }),
            Err(TryLockError::WouldBlock) => Err(MemoryError::Locked { pid, lock: path }),
            Err(TryLockError::Error(error)) => Err(refused(error)),
        }
    }
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        // Still held, so nobody else has it open with the lock; what is left is an empty file.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_one_mover_at_a_time() {
        let folder = std::env::temp_dir().join(format!("plumb-lock-{}", std::process::id()));
        let own = std::process::id();
        let held = MemoryLock::claim(own, &folder).expect("nobody has it");
        let second = MemoryLock::claim(own, &folder).expect_err("it is held").to_string();
        assert!(second.contains("another process moves the memory"), "{second}");
        drop(held);
        MemoryLock::claim(own, &folder).expect("it was let go of");
        let _ = fs::remove_dir_all(folder);
    }
}
