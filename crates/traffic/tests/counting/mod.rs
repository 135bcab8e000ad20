//! Installs the counting allocator for a test.

pub(crate) use sys::allocation::taken;

#[global_allocator]
static ALLOCATOR: sys::allocation::Counting = sys::allocation::Counting;
