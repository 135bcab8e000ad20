//! Resident memory of a machine, in the memory files created by QEMU. Source: backends/hostmem-memfd.c of QEMU 7.2.

use std::fs::File;

use units::Bytes;

use crate::error::MemoryError;

/// QEMU's name for them.
const NAME: &str = "memory-backend-memfd";
/// Open files that pin or share a machine's memory, with the reason why it cannot be freed.
const OTHER_HANDS: [(&str, &str); 3] = [
    ("/dev/vfio/", "a passed-through device pins it (VFIO)"),
    ("/dev/vhost-vdpa", "a passed-through device pins it (vDPA)"),
    ("anon_inode:[userfaultfd]", "another process handles its page faults (userfaultfd)"),
];

/// The memory files of a QEMU process.
#[derive(Debug)]
pub struct Resident {
    files: Vec<File>,
}

impl Resident {
    /// Opens the files. Empty if its memory is anonymous.
    ///
    /// # Errors
    /// If there is no such process, or it belongs to another user.
    pub fn of(pid: u32) -> Result<Self, MemoryError> {
        Ok(Self { files: sys::memory_file::of_process(pid, NAME)? })
    }

    /// Allocated bytes.
    ///
    /// # Errors
    /// If the kernel does not report them.
    pub fn now(&self) -> Result<Bytes, MemoryError> {
        Ok(Bytes(self.files.iter().map(sys::memory_file::allocated).sum::<Result<u64, _>>()?))
    }

    /// The only file, if its memory is not pinned or shared.
    pub(crate) fn in_one_hand(pid: u32) -> Result<File, MemoryError> {
        let refused = |reason: &str| MemoryError::InOtherHands { pid, reason: reason.to_owned() };
        let open = sys::memory_file::open_of(pid)?;
        let other = OTHER_HANDS.iter().find(|(name, _)| open.iter().any(|open| open.starts_with(name)));
        if let Some((_, reason)) = other {
            return Err(refused(reason));
        }
        match <[File; 1]>::try_from(Self::of(pid)?.files) {
            Ok([file]) => Ok(file),
            Err(files) => {
                Err(refused(&format!("it is in {} memory files (memfd) instead of one", files.len())))
            }
        }
    }
}
