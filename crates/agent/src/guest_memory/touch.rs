//! Writes to pages of memory.

use protocol::MemoryReply;
use sys::{
    anonymous_memory::{self, AnonymousMemory},
    clock::monotonic,
};
use units::Nanos;

use crate::refusal::Refusal;

/// The kernel's own minimum of free memory is lower than this.
const LEFT_FREE: u64 = 48 << 20;

pub(super) fn touch_free() -> Result<(AnonymousMemory, MemoryReply), Refusal> {
    let available = anonymous_memory::available()
        .ok_or_else(|| Refusal::new("the kernel does not report free memory"))?;
    touch(available.saturating_sub(LEFT_FREE))
}

pub(super) fn touch(bytes: u64) -> Result<(AnonymousMemory, MemoryReply), Refusal> {
    let length = usize::try_from(bytes).map_err(|_| Refusal::new(format!("{bytes} bytes are too many")))?;
    let mut memory = AnonymousMemory::map(length, false)?;
    let begun = monotonic();
    memory.touch(0, length);
    Ok((memory, MemoryReply::Touched { took: Nanos(monotonic() - begun) }))
}
