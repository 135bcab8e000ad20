//! The resident memory of a machine, in the memory files created by QEMU (backends/hostmem-memfd.c of QEMU
//! 7.2).

use std::fs::File;

use units::Bytes;

use crate::error::MemoryError;

const NAME: &str = "memory-backend-memfd";
/// Open files that prevent memory from being freed, with the reasons.
const OTHER_HANDS: [(&str, &str); 3] = [
    ("/dev/vfio/", "a passed-through device pins it (VFIO)"),
    ("/dev/vhost-vdpa", "a passed-through device pins it (vDPA)"),
    ("anon_inode:[userfaultfd]", "another process handles its page faults (userfaultfd)"),
];

#[derive(Debug)]
pub struct Resident {
    files: Vec<File>,
}

impl Resident {
    pub fn of(pid: u32) -> Result<Self, MemoryError> {
        Ok(Self { files: sys::memory_file::of_process(pid, NAME)? })
    }

    pub fn now(&self) -> Result<Bytes, MemoryError> {
        Ok(Bytes(self.files.iter().map(sys::memory_file::allocated).sum::<Result<u64, _>>()?))
    }

    /// Fails if the machine's memory is pinned or shared.
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
