//! A per-machine lock for moving its memory, released by the kernel when the holder exits.

use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
};

use sys::output_file;

use crate::error::MemoryError;

#[derive(Debug)]
pub(crate) struct MemoryLock {
    path: PathBuf,
    _file: File,
}

impl MemoryLock {
    pub(crate) fn claim(pid: u32, folder: &Path) -> Result<Self, MemoryError> {
        // The start time distinguishes the process from a later one with the same PID.
        let started = sys::process::start_time(pid)?;
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
        // Removes the file while it is locked. If that fails, an empty file remains.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_machine_against_second_mover() {
        let folder = std::env::temp_dir().join(format!("plumb-lock-{}", std::process::id()));
        let own = std::process::id();
        let first = MemoryLock::claim(own, &folder).expect("unlocked");
        let second = MemoryLock::claim(own, &folder).expect_err("locked").to_string();
        assert!(second.contains("another process is moving the memory"), "{second}");
        drop(first);
        MemoryLock::claim(own, &folder).expect("unlocked");
        let _ = fs::remove_dir_all(folder);
    }
}
