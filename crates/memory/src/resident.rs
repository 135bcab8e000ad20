//! What the host has put behind a machine's memory: the files in memory that QEMU made for it. Source:
//! backends/hostmem-memfd.c of QEMU 7.2.

use std::fs::File;

use units::Bytes;

use crate::error::MemoryError;

/// What QEMU calls them.
const NAME: &str = "memory-backend-memfd";
/// What else may have a machine's memory in hand, by what its process has open, and why it then cannot be freed.
const OTHER_HANDS: [(&str, &str); 3] = [
    ("/dev/vfio/", "a device that is passed through has it pinned (VFIO)"),
    ("/dev/vhost-vdpa", "a device that is passed through has it pinned (vDPA)"),
    ("anon_inode:[userfaultfd]", "somebody follows its page faults (userfaultfd)"),
];

/// The files that a process of QEMU has as its machine's memory.
#[derive(Debug)]
pub struct Resident {
    files: Vec<File>,
}

impl Resident {
    /// Those of the process; none where its memory is anonymous.
    ///
    /// # Errors
    /// When there is no such process, or it is another user's.
    pub fn of(pid: u32) -> Result<Self, MemoryError> {
        Ok(Self { files: sys::memory_file::of_process(pid, NAME)? })
    }

    /// What of them is there.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn now(&self) -> Result<Bytes, MemoryError> {
        Ok(Bytes(self.files.iter().map(sys::memory_file::allocated).sum::<Result<u64, _>>()?))
    }

    /// The only one, if nobody else has it in hand.
    pub(crate) fn in_one_hand(pid: u32) -> Result<File, MemoryError> {
        let refused = |because: &str| MemoryError::InOtherHands { pid, because: because.to_owned() };
        let open = sys::memory_file::open_of(pid)?;
        let other = OTHER_HANDS.iter().find(|(name, _)| open.iter().any(|open| open.starts_with(name)));
        if let Some((_, because)) = other {
            return Err(refused(because));
        }
        match <[File; 1]>::try_from(Self::of(pid)?.files) {
            Ok([file]) => Ok(file),
            Err(files) => {
                Err(refused(&format!("it is in {} files of memory (memfd), not in one", files.len())))
            }
        }
    }
}
