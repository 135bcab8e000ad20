//! Makes the allocator of a test count.

pub(crate) use sys::allocation::taken;

#[global_allocator]
static ALLOCATOR: sys::allocation::Counting = sys::allocation::Counting;
